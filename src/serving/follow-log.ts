import { StoreBusy } from "../lib/limits/store-busy.ts";
import type { Logger } from "../process/log.ts";
import type { LinkedRow, LoggedRow, LogPlace } from "../records/model.ts";
import type { AddedPlaces, DivergedLog, RecordStore } from "../records/store/port.ts";
import { whenLate } from "./late-reads.ts";

export type LogListener = {
  /** All rows of a write are passed together. */
  readonly rows: (rows: readonly LoggedRow[]) => void;
  /** Rows may be missing: everything has to be read again. */
  readonly lost: () => void;
  /**
   * The store has lost rows that were passed on: everything has to be read again, and the log continues from its end.
   */
  readonly rolledBack: (loss: LostRows) => void;
  /** There is a new write, with this number. Called before the writer gets its response. */
  readonly written: (number: number) => void;
  /** Everything up to this write has been passed to `rows`, or cannot be read in time. */
  readonly reported: (number: number) => void;
};

/** Rows that were followed, and that the log does not have any more. */
export type LostRows = {
  /** How many rows, and of which zones; undefined if that is not known. */
  readonly details: { readonly count: number; readonly zones: ReadonlySet<string> } | undefined;
  /** The last position that was followed. */
  readonly position: number;
  /** The end of the log that the store has now. */
  readonly end: number;
  /** What was read from the store before this time is not lost, apart from those rows (`performance.now`). */
  readonly checked: number;
  readonly history: DivergedLog;
};

const mostAtOnce = 1_000;
/** Milliseconds until the log is read again after the store was unavailable. */
const pause = 1_000;
/** Followed rows that are remembered, to know what was lost. */
const mostRemembered = 20_000;

/** Milliseconds. A commit that is confirmed now is not older. */
const longestCommit = 20_000;

type Remembered = LogPlace & { readonly zone?: string };

/**
 * Passes on the rows that the store reports if they are next in the log, and reads the log from its last place
 * otherwise, until it is closed. While the store is unavailable nothing is lost: reading continues from the same place
 * later.
 */
export class LogFollower {
  readonly #store: Pick<RecordStore, "logFrom" | "logEnd">;
  readonly #log: Logger;
  readonly #listener: LogListener;
  readonly #unfollow: () => void;
  #place: LogPlace;
  #remembered: Remembered[];
  /** Its other rows were not read yet. */
  #incompleteWrite: readonly LinkedRow[] = [];
  #reading = false;
  #mustReadAgain = false;
  #written = 0;
  #retry: NodeJS.Timeout | undefined;
  #cancelDeadline: (() => void) | undefined;
  #lateSince: number | undefined;
  #checked = performance.now();
  #closed = false;
  #isOutageLogged = false;

  constructor(
    store: Pick<RecordStore, "logFrom" | "logEnd" | "onChange">,
    start: LogPlace,
    log: Logger,
    listener: LogListener,
  ) {
    [this.#store, this.#log, this.#listener] = [store, log, listener];
    [this.#place, this.#remembered] = [start, [start]];
    this.#unfollow = store.onChange((rows, places) => this.#wake(rows, places));
  }

  /**
   * When a write was first announced that has not been read yet, and queries no longer wait for it (`performance.now`).
   */
  lateSince(): number | undefined {
    return this.#lateSince;
  }

  /** The last place that was passed on. */
  place(): LogPlace {
    return this.#place;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#cancelDeadline?.();
    this.#unfollow();
  }

  #wake(rows: readonly LoggedRow[] = [], places = placesOf(rows)): void {
    this.#written = (this.#written + 1) | 0;
    this.#listener.written(this.#written);
    const isIdle = !this.#reading && this.#retry === undefined;
    if (isIdle && places !== undefined && followsOn(places, this.#place)) {
      this.#place = places.end;
      this.#checked = Math.max(this.#checked, performance.now() - longestCommit);
      this.#remember(rows, places.end.link);
      this.#listener.rows(rows);
      this.#listener.reported(this.#written);
      return;
    }
    this.#mustReadAgain = true;
    if (this.#cancelDeadline === undefined) this.#startDeadline();
    if (!this.#reading) this.#begin();
  }

  #begin(): void {
    this.#reading = true;
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#read()
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#reading = false;
        if (this.#mustReadAgain && !this.#closed) this.#begin();
      });
  }

  async #read(): Promise<void> {
    for (let isWhole = false; !isWhole || this.#mustReadAgain; ) {
      this.#mustReadAgain = false;
      const [covered, begun] = [this.#written, performance.now()];
      const rowsOrHistory = await this.#store.logFrom(this.#place, mostAtOnce);
      if (this.#isOutageLogged) this.#log.info("the change log can be read again");
      this.#isOutageLogged = false;
      isWhole = "placesStillInLog" in rowsOrHistory ? await this.#startAnew(rowsOrHistory) : this.#pass(rowsOrHistory);
      if (!isWhole) continue;
      this.#checked = begun;
      this.#lateSince = undefined;
      this.#listener.reported(covered);
      this.#cancelDeadline?.();
      this.#cancelDeadline = undefined;
      if (this.#written !== covered) this.#startDeadline();
    }
  }

  /** Whether these rows are the end of the log. */
  #pass(newRows: readonly LinkedRow[]): boolean {
    const rows = [...this.#incompleteWrite, ...newRows];
    const last = rows.at(-1);
    if (last) this.#place = { position: last.position, link: last.link };
    for (const row of newRows) this.#remember([row], row.link);
    const isWhole = newRows.length < mostAtOnce;
    const whole = isWhole ? rows : withoutLastWrite(rows);
    this.#incompleteWrite = rows.slice(whole.length);
    if (whole.length > 0) this.#listener.rows(whole);
    return isWhole;
  }

  /** The log has another history than the one that was followed. It is followed from its present end. */
  async #startAnew(history: DivergedLog): Promise<false> {
    const [end, shared] = await Promise.all([this.#store.logEnd(), history.placesStillInLog(this.#remembered)]);
    const fork = this.#remembered.findLastIndex(({ position }) => shared.has(position));
    const lost = this.#remembered.slice(fork + 1);
    const zones = new Set(lost.flatMap(({ zone }) => zone ?? []));
    const details = fork < 0 ? undefined : { count: lost.length, zones };
    const { position } = this.#place;
    const checked = this.#checked;
    [this.#place, this.#remembered, this.#incompleteWrite] = [end, [end], []];
    this.#log.error(
      { followed: position, end: end.position, ...(details && { lost: details.count, zones: details.zones.size }) },
      "the database has lost changes that this node has already published: a standby that lagged took over, or a backup was restored; " +
        "all zones are read again, and serials are raised",
    );
    this.#listener.rolledBack({ details, position, checked, end: end.position, history });
    return false;
  }

  #remember(rows: readonly LoggedRow[], link: string): void {
    // Such a log has only one history.
    if (link === "") return;
    for (const { position, zoneName: zone } of rows) this.#remembered.push({ position, link, zone });
    if (this.#remembered.length > 2 * mostRemembered) this.#remembered = this.#remembered.slice(-mostRemembered);
  }

  /** Queries must not wait longer for a database that does not answer. */
  #startDeadline(): void {
    const since = performance.now();
    this.#cancelDeadline = whenLate(() => this.#giveUp(since));
  }

  #giveUp(since: number): void {
    this.#cancelDeadline = undefined;
    this.#lateSince ??= since;
    this.#listener.reported(this.#written);
  }

  #fail(error: unknown): void {
    if (error instanceof StoreBusy) {
      if (!error.isLogged && !this.#isOutageLogged) {
        this.#isOutageLogged = true;
        this.#log.warn({ err: error }, "the change log cannot be read; trying again every second");
      }
      if (!this.#closed) this.#retry = setTimeout(() => this.#begin(), pause).unref();
    } else {
      this.#incompleteWrite = [];
      this.#log.error({ err: error }, "the change log could not be read; reloading all zones");
      this.#listener.lost();
    }
    this.#cancelDeadline?.();
    this.#giveUp(performance.now());
  }
}

/** The places of rows whose store has only one history. */
function placesOf(rows: readonly LoggedRow[]): AddedPlaces | undefined {
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  return { after: { position: first.position - 1, link: "" }, end: { position: last.position, link: "" } };
}

/** Whether added rows are the next in the log, with none from another node before or between them. */
const followsOn = ({ after }: AddedPlaces, { position, link }: LogPlace): boolean =>
  after.position === position && after.link === link;

/**
 * The last row of a page may be in the middle of a write, or of writes to one zone that were signed together: the row
 * with their signatures is the last one, and not far from the first.
 */
function withoutLastWrite<Row extends LoggedRow>(rows: readonly Row[]): readonly Row[] {
  const last = rows.at(-1);
  if (last === undefined || last.change.kind === "signatures" || "unsigned" in last.change) return rows;
  const unsigned = rows.findLastIndex(({ zone, change }) => zone !== last.zone || change.kind === "signatures") + 1;
  const write = rows.findIndex(({ zone, serial }) => zone === last.zone && serial === last.serial);
  return rows.slice(0, rows.length - unsigned < mostAtOnce ? Math.min(unsigned, write) : write);
}
