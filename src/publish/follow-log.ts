import { StoreBusy } from "../process/database/store-busy.ts";
import type { Logger } from "../process/log.ts";
import type { LoggedRow } from "../records/model.ts";
import type { ChangeListener, RecordStore } from "../records/store/port.ts";

export type LogListener = {
  /** All rows of a write are passed together. */
  readonly rows: (rows: readonly LoggedRow[]) => void;
  readonly lost: () => void;
  /** There is a new write, with this number. Called before the writer gets its response. */
  readonly written: (number: number) => void;
  /** Everything up to this write has been passed to `rows`. */
  readonly reported: (number: number) => void;
};

const mostAtOnce = 1_000;
/** Milliseconds until the log is read again after the store was unavailable. */
const pause = 1_000;

/**
 * Passes on the rows that the store reports if they are next in the log, and reads the log from its last position otherwise, until the
 * returned function is called. While the store is unavailable nothing is lost: reading continues from the same position later.
 */
export function followLog(store: RecordStore, start: number, log: Logger, listener: LogListener): () => void {
  let position = start;
  let reading = false;
  let again = false;
  let written = 0;
  let held: readonly LoggedRow[] = [];
  let later: NodeJS.Timeout | undefined;
  let ended = false;
  let saidAway = false;

  const read = async () => {
    for (;;) {
      again = false;
      const covered = written;
      const rows = [...held, ...(await store.logAfter(position, mostAtOnce))];
      if (saidAway) log.info("the change log can be read again");
      saidAway = false;
      position = rows.at(-1)?.position ?? position;
      const full = rows.length >= held.length + mostAtOnce;
      const whole = full ? withoutLastWrite(rows) : rows;
      held = rows.slice(whole.length);
      if (whole.length > 0) listener.rows(whole);
      if (!full) listener.reported(covered);
      if (!full && !again) return;
    }
  };
  const wake: ChangeListener = (rows = []) => {
    written = (written + 1) | 0;
    listener.written(written);
    if (!reading && later === undefined && followsOn(rows, position)) {
      position += rows.length;
      listener.rows(rows);
      listener.reported(written);
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
    listener.reported(written);
  };
  const unfollow = store.onChange(wake);
  return () => {
    ended = true;
    clearTimeout(later);
    unfollow();
  };
}

/** Whether these are the next rows of the log, with none from another node before or between them. */
function followsOn(rows: readonly LoggedRow[], position: number): boolean {
  return rows[0]?.position === position + 1 && rows.at(-1)?.position === position + rows.length;
}

/** The last row of a page may be in the middle of a write. */
function withoutLastWrite(rows: readonly LoggedRow[]): readonly LoggedRow[] {
  const last = rows.at(-1);
  const end = rows.findIndex((row) => row.zone === last?.zone && row.serial === last.serial);
  return rows.slice(0, end);
}
