import { apex } from "../core/names/name.ts";
import type { LoggedRow } from "../records/model.ts";

/**
 * The rows that lead from one version of a zone to the next, in order. The last one has the zone and its new serial.
 * If some of them are missing, the zone has to be read again.
 */
export type ServedVersion = { readonly rows: readonly LoggedRow[]; readonly isWhole: boolean };

/** Rows of one zone that are kept until they are signed. */
const mostKept = 1_000;

type Unsigned = {
  readonly rows: readonly LoggedRow[];
  readonly isWhole: boolean;
  readonly last: number;
};

/**
 * Makes versions of the rows of the log. A change of a signed zone waits for the row with its signatures. Changes that
 * are signed together become one version, because none of them can be validated without the others.
 *
 *     rows      a11  b7  a12  signatures of a12 (through a12)  a13        zone and serial
 *     versions       b7       a11 a12 signatures                          a13 waits
 */
export class ServedVersions {
  readonly #unsigned = new Map<number, Unsigned>();
  /** Rows up to this position were not passed. */
  #start: number | undefined;

  /** The next rows of the log. All rows of a write that needs no signatures must be passed together. */
  take(rows: readonly LoggedRow[]): readonly ServedVersion[] {
    this.#start ??= (rows[0]?.position ?? 0) - 1;
    const versions: ServedVersion[] = [];
    /** Rows of this call that are in no version yet, by zone. */
    const open = new Map<number, LoggedRow[]>();
    for (const row of rows) {
      const { zone, change } = row;
      if ("unsigned" in change) {
        this.#keep(row);
        continue;
      }
      const own = open.get(zone) ?? [];
      own.push(row);
      open.set(zone, own);
      if (endsZone(change)) this.#unsigned.delete(zone);
      if (change.kind !== "signatures") continue;
      open.delete(zone);
      const { through = row.position, after = this.#start } = change;
      const signed = this.#signed(zone, through);
      versions.push({ rows: [...signed.rows, ...own], isWhole: signed.isWhole && after >= this.#start });
    }
    // Each write to a zone that is not signed is a version.
    for (const own of open.values())
      for (const write of Map.groupBy(own, ({ serial }) => serial).values())
        versions.push({ rows: write, isWhole: true });
    return versions.sort((a, b) => endOf(a) - endOf(b));
  }

  /** Rows may be missing before the next ones. */
  forget(): void {
    this.#unsigned.clear();
    this.#start = undefined;
  }

  #keep(row: LoggedRow): void {
    const { position: last, zone } = row;
    const before = this.#unsigned.get(zone) ?? { rows: [], isWhole: true };
    const isWhole = before.isWhole && before.rows.length < mostKept;
    this.#unsigned.set(zone, { rows: isWhole ? [...before.rows, row] : before.rows, isWhole, last });
  }

  #signed(zone: number, through: number): ServedVersion {
    const unsigned = this.#unsigned.get(zone);
    if (unsigned === undefined) return { rows: [], isWhole: true };
    const { rows, isWhole, last } = unsigned;
    const left = rows.filter(({ position }) => position > through);
    if (last <= through) this.#unsigned.delete(zone);
    else if (isWhole) this.#unsigned.set(zone, { rows: left, isWhole, last });
    return { rows: rows.slice(0, rows.length - left.length), isWhole };
  }
}

const endOf = ({ rows }: ServedVersion): number => rows.at(-1)?.position ?? 0;

/** The zone ends, with everything that was to be signed in it. */
export const endsZone = (change: LoggedRow["change"]): boolean =>
  change.kind === "delete" && change.owner === apex && change.type === "SOA";
