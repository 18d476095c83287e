import { overQuotaText, type Quotas } from "../../core/quotas.ts";
import { type Sql, sql } from "../../lib/sqlite/sql.ts";
import { OverQuota, type Zone } from "../model.ts";

/**
 * How many records a zone and an account may have, and how many values an edit may leave in one set. The limit of an
 * account is checked against a sum that is up to half a minute old. Without `quotas`, an account may have any number of
 * zones and tokens.
 */
export type RecordLimits = {
  readonly zone: number;
  readonly account: number;
  readonly set: number;
  readonly quotas?: Quotas | undefined;
};

/** Milliseconds. */
const countEvery = 30_000;
/** Zones per query. */
const perQuery = 5_000;

/** Records are counted again earlier if this part of the limit may have been added since. */
const muchAdded = 0.01;

/** `added`: how many records writes wanted to add since it was counted. */
type Total = { readonly records: number; readonly at: number; added: number };

/** Refuses writes that add records beyond a limit. Writes that remove records are always accepted. */
export class RecordQuota {
  readonly #limits: RecordLimits;
  readonly #read: Sql["read"];
  readonly #totals = new Map<number, Total>();
  readonly #counting = new Set<number>();

  constructor(limits: RecordLimits, { read }: Pick<Sql, "read">) {
    [this.#limits, this.#read] = [limits, read];
  }

  /** How many zones an account may have. */
  get mostZones(): number | undefined {
    return this.#limits.quotas?.zones;
  }

  /** `zones`: how many the account has. */
  assertMayCreate(zones: number): void {
    const { mostZones } = this;
    if (mostZones !== undefined && zones >= mostZones) throw new OverQuota(overQuotaText("zones", mostZones));
  }

  /** `before`: how many records the zone has. */
  assertWithin({ account, name, recordCount }: Pick<Zone, "account" | "name" | "recordCount">, before: number): void {
    if (recordCount <= before) return;
    if (recordCount > this.#limits.zone) throw new OverQuota(textOf(`the zone ${name}`, this.#limits.zone));
    const [total, added] = [this.#totals.get(account), recordCount - before];
    if (total) total.added += added;
    const isOld = !total || performance.now() - total.at > countEvery || total.added > muchAdded * this.#limits.account;
    // The write does not wait for it: an account may have very many zones.
    if (isOld && !this.#counting.has(account)) void this.count(account).catch(() => undefined);
    if ((total?.records ?? 0) + added > this.#limits.account)
      throw new OverQuota(textOf("this account", this.#limits.account));
  }

  async count(account: number): Promise<void> {
    this.#counting.add(account);
    try {
      let records = 0;
      for (let after = 0; ; ) {
        const zones = sql`SELECT number, record_count FROM zones WHERE account = ${account} AND number > ${after}
          ORDER BY number LIMIT ${perQuery}`;
        const [row] = await this.#read<{ readonly sum: number | null; readonly last: number | null }>(
          sql`SELECT sum(record_count) AS sum, max(number) AS last FROM (${zones}) AS listed`,
        );
        if (row?.last == null) break;
        records += Number(row.sum);
        after = Number(row.last);
      }
      this.#totals.set(account, { records, at: performance.now(), added: 0 });
    } finally {
      this.#counting.delete(account);
    }
  }
}

const textOf = (what: string, most: number): string =>
  `${what} may have at most ${most} records; delete some, or ask the operator of this service to raise the limit`;
