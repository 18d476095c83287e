import { setTimeout as sleep } from "node:timers/promises";
import type { ZoneNews } from "../nameserver/answer/zone-source.ts";
import type { LoggedRow } from "../records/model.ts";
import type { RecordStore } from "../records/store/port.ts";
import { whenLate } from "./late-reads.ts";
import { endsZone } from "./served-versions.ts";

type Waiting = {
  readonly name: string;
  /** The position of its last change that is not signed. */
  readonly last: number;
  /** Since when nothing of it was signed (`performance.now`). */
  readonly since: number;
  /** Nobody waits for it any more. */
  readonly isLate: boolean;
  readonly cancel: () => void;
};

/** Milliseconds that queries for a zone wait for its signer; it needs a few. */
const longestWait = 1_000;

/**
 * Tells the nameserver which zones have confirmed writes that are not signed yet: queries for them wait, but not long,
 * and then get the last version that was signed (`lateSince`). A zone whose signer is late holds up its queries once,
 * not for each write.
 */
export class SignerWaits {
  readonly #tell: (event: ZoneNews) => void;
  readonly #longest: number;
  /** By the number of the zone. */
  readonly #waiting = new Map<number, Waiting>();

  constructor(tell: (event: ZoneNews) => void, longest = longestWait) {
    [this.#tell, this.#longest] = [tell, longest];
  }

  /** The next rows of the log, after the nameserver has the versions that they make. */
  note(rows: readonly LoggedRow[]): void {
    const unsigned = new Map<number, LoggedRow>();
    for (const row of rows) if ("unsigned" in row.change) unsigned.set(row.zone, row);
    for (const row of unsigned.values()) this.#wait(row);
    for (const { zone, change, position } of rows)
      if (change.kind === "signatures") this.#signed(zone, change.through ?? position);
      else if (endsZone(change)) this.#signed(zone, position);
  }

  /** For those who did not hear of it. */
  pending(): readonly ZoneNews[] {
    return [...this.#waiting.values()].flatMap((each) => (each.isLate ? [] : unsignedEvent(each)));
  }

  /** Since when a zone is answered without writes that were confirmed. */
  lateSince(): number | undefined {
    const late = [...this.#waiting.values()].filter(({ isLate }) => isLate);
    return late.length === 0 ? undefined : Math.min(...late.map(({ since }) => since));
  }

  /** Rows may be missing before the next ones. */
  forget(): void {
    for (const { cancel } of this.#waiting.values()) cancel();
    this.#waiting.clear();
  }

  #wait({ zone, zoneName: name, position: last }: LoggedRow): void {
    const before = this.#waiting.get(zone);
    const waiting = before ? { ...before, last } : this.#begin(zone, name, last);
    this.#waiting.set(zone, waiting);
    if (!waiting.isLate) this.#tell(unsignedEvent(waiting));
  }

  #begin(zone: number, name: string, last: number): Waiting {
    const cancel = whenLate(() => this.#giveUp(zone), this.#longest);
    return { name, last, since: performance.now(), isLate: false, cancel };
  }

  #signed(zone: number, through: number): void {
    const waiting = this.#waiting.get(zone);
    if (waiting === undefined) return;
    const { name, last, isLate, cancel } = waiting;
    cancel();
    this.#waiting.delete(zone);
    if (through < last) this.#waiting.set(zone, this.#begin(zone, name, last));
    if (!isLate) this.#tell({ kind: "signed", zone: name, through });
    else if (through < last) this.#tell(unsignedEvent(waiting));
  }

  #giveUp(zone: number): void {
    const waiting = this.#waiting.get(zone);
    if (waiting === undefined) return;
    this.#waiting.set(zone, { ...waiting, isLate: true });
    this.#tell({ kind: "signed", zone: waiting.name, through: waiting.last });
  }
}

const unsignedEvent = ({ name: zone, last: through }: Waiting): ZoneNews => ({ kind: "unsigned", zone, through });

/** Queries do not wait for what was written before the log is followed: it is signed first, but not for long. */
export const signedSoon = async (store: Pick<RecordStore, "signed">): Promise<void> =>
  await Promise.race([store.signed(), sleep(longestWait, undefined, { ref: false })]);
