import { StoreBusy } from "../process/database/store-busy.ts";
import type { Logger } from "../process/log.ts";
import type { LoggedChange } from "../records/model.ts";
import type { ChangeListener, RecordStore } from "../records/store/port.ts";

export type LogListener = {
  /** Never part of a write: all rows of one come together. */
  readonly rows: (rows: readonly LoggedChange[]) => void;
  readonly lost: () => void;
  /** The log has grown once more; it is counted. Called before the writer gets its answer. */
  readonly coming: (number: number) => void;
  /** All up to that one was given out. */
  readonly told: (number: number) => void;
};

const mostAtOnce = 1_000;
/** Milliseconds until a store that was away is asked again. */
const pause = 1_000;

/**
 * Takes rows as they are reported, and reads the log after `start` when it has grown otherwise, one reading at a time, until the
 * function given back is called. While the store is away nothing is lost: it is read on from the same place later.
 */
export function followLog(store: RecordStore, start: number, log: Logger, listener: LogListener): () => void {
  let position = start;
  let reading = false;
  let again = false;
  let coming = 0;
  let held: readonly LoggedChange[] = [];
  let later: NodeJS.Timeout | undefined;
  let ended = false;
  let saidAway = false;

  const read = async () => {
    for (;;) {
      again = false;
      const covered = coming;
      const rows = [...held, ...(await store.changesAfter(position, mostAtOnce))];
      if (saidAway) log.info("the change log can be read again");
      saidAway = false;
      position = rows.at(-1)?.position ?? position;
      const full = rows.length >= held.length + mostAtOnce;
      const whole = full ? withoutLastWrite(rows) : rows;
      held = rows.slice(whole.length);
      if (whole.length > 0) listener.rows(whole);
      if (!full) listener.told(covered);
      if (!full && !again) return;
    }
  };
  const wake: ChangeListener = (rows = []) => {
    coming = (coming + 1) | 0;
    listener.coming(coming);
    if (!reading && later === undefined && followsOn(rows, position)) {
      position += rows.length;
      listener.rows(rows);
      listener.told(coming);
      return;
    }
    again = true;
    if (!reading) begin();
  };
  const begin = () => {
    reading = true;
    clearTimeout(later);
    later = undefined;
    read()
      .catch(fail)
      .finally(() => {
        reading = false;
        if (again) begin();
      });
  };
  const fail = (error: unknown) => {
    if (error instanceof StoreBusy) {
      if (!error.isLogged && !saidAway) {
        saidAway = true;
        log.warn({ err: error }, "the change log cannot be read; trying again every second");
      }
      if (!ended) later = setTimeout(begin, pause).unref();
    } else {
      held = [];
      log.error({ err: error }, "the change log could not be read; reloading all zones");
      listener.lost();
    }
    listener.told(coming);
  };
  const unfollow = store.onChange(wake);
  return () => {
    ended = true;
    clearTimeout(later);
    unfollow();
  };
}

/** The very next rows of the log, with none of another node before or between them. */
function followsOn(rows: readonly LoggedChange[], position: number): boolean {
  return rows[0]?.position === position + 1 && rows.at(-1)?.position === position + rows.length;
}

/** Where reading stopped may be in the middle of a write. */
function withoutLastWrite(rows: readonly LoggedChange[]): readonly LoggedChange[] {
  const last = rows.at(-1);
  const end = rows.findIndex((row) => row.zone === last?.zone && row.serial === last.serial);
  return rows.slice(0, end);
}
