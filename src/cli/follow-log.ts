import type { Logger } from "../process/log.ts";
import type { ChangeListener, LoggedChange, RecordStore } from "../records/store.ts";

export type LogListener = {
  /** Never part of a write: all rows of one come together. */
  readonly rows: (rows: readonly LoggedChange[]) => void;
  readonly lost: () => void;
  /** The log has grown once more; it is counted. Said before whoever wrote hears that it is done. */
  readonly coming: (number: number) => void;
  /** All up to that one was given out. */
  readonly told: (number: number) => void;
};

const mostAtOnce = 1_000;

/** Takes rows as they are told, and reads the log behind `start` when it has grown otherwise, one reading at a time, until the function given back is called. */
export function followLog(store: RecordStore, start: number, log: Logger, listener: LogListener): () => void {
  let position = start;
  let reading = false;
  let again = false;
  let coming = 0;
  let held: readonly LoggedChange[] = [];

  const read = async () => {
    for (;;) {
      again = false;
      const covered = coming;
      const rows = [...held, ...(await store.changesAfter(position, mostAtOnce))];
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
    if (!reading && followsOn(rows, position)) {
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
    read()
      .catch((error: unknown) => {
        held = [];
        log.error({ err: error }, "the change log could not be read; every zone is loaded again");
        listener.lost();
        listener.told(coming);
      })
      .finally(() => {
        reading = false;
        if (again) begin();
      });
  };
  return store.onChange(wake);
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
