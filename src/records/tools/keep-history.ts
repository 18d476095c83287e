import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Instant } from "../../core/instant.ts";
import { runPeriodically } from "../../process/duties.ts";
import type { Logger } from "../../process/log.ts";
import { keyOf, placeIn, type Row, storeTables, type WritableTables } from "./tables/table.ts";

type Log = Pick<WritableTables, "read" | "removeUpTo">;

const { changes } = storeTables;
const [zoneAt, serialAt, atAt] = [placeIn(changes, "zone"), placeIn(changes, "serial"), placeIn(changes, "at")];

/**
 * Drops about `most` of the oldest changes made before `before`, never part of a write and never the last write.
 * Returns how many were dropped; 0 when nothing is left to drop.
 */
export async function dropSomeHistory(log: Log, before: Instant, most = 500): Promise<number> {
  const rows = await log.read(changes, { limit: most + 1 });
  const old = rows.findIndex((row) => Number(row[atAt]) >= before);
  const end = old < 0 ? rows.length - 1 : old;
  const whole = rows.slice(0, lastBoundary(rows, end));
  if (whole.length > 0) return await dropTo(log, whole);
  // A write longer than a step is dropped in one go: otherwise half of it could be undone as if it were the whole.
  return end > 0 && old < 0 && rows.length > most ? await dropLongWrite(log, rows) : 0;
}

/** Drops everything that is too old in small steps, with a pause in between for writers. */
export async function dropHistory(
  log: Log,
  { before, rest, signal }: { readonly before: Instant; readonly rest: number; readonly signal: AbortSignal },
): Promise<number> {
  let dropped = 0;
  for (;;) {
    const some = await dropSomeHistory(log, before);
    dropped += some;
    if (some === 0) return dropped;
    await sleep(rest, undefined, { signal });
  }
}

export type HistoryKeeper = {
  readonly open: () => Promise<WritableTables>;
  /** Milliseconds. */
  readonly keep: number;
  readonly now: () => Instant;
  readonly log: Logger;
};

const everyHour = 3_600_000;
const stepRest = 100;

/** Trims the log every hour. Returns a function that stops it. */
export function startKeepingHistory({ open, keep, now, log }: HistoryKeeper): () => Promise<void> {
  let ended: Promise<unknown> | undefined;
  const round = async (signal: AbortSignal) => {
    ended ??= once(signal, "abort");
    const tables = await open();
    try {
      const dropping = dropHistory(tables, { before: now() - keep, rest: stepRest, signal });
      // Stopping must not wait for a database that does not answer: closing the connection ends the statement.
      const dropped = await Promise.race([dropping, ended.then(() => 0)]);
      if (dropped > 0) log.info({ dropped }, "dropped changes older than --keep-history");
    } finally {
      await tables.close();
    }
  };
  return runPeriodically(round, everyHour, (error) =>
    log.warn({ err: error }, "old changes could not be dropped; trying again in an hour"),
  );
}

const sameWrite = (a: Row | undefined, b: Row | undefined): boolean =>
  a !== undefined && b !== undefined && a[zoneAt] === b[zoneAt] && a[serialAt] === b[serialAt];

/** The last index up to `end` that lies between two writes. */
function lastBoundary(rows: readonly Row[], end: number): number {
  let at = end;
  while (at > 0 && sameWrite(rows[at - 1], rows[at])) at -= 1;
  return at;
}

async function dropTo(log: Log, rows: readonly Row[]): Promise<number> {
  const last = rows.at(-1);
  if (last === undefined) return 0;
  await log.removeUpTo(changes, keyOf(changes, last));
  return rows.length;
}

async function dropLongWrite(log: Log, [first]: readonly Row[]): Promise<number> {
  let count = 0;
  for (let last: Row | undefined; ; ) {
    const rows = await log.read(changes, { after: last && keyOf(changes, last), limit: 5_000 });
    // It is the last write in the log, which is never dropped.
    if (rows.length === 0) return 0;
    const end = rows.findIndex((row) => !sameWrite(row, first));
    const own = end < 0 ? rows : rows.slice(0, end);
    count += own.length;
    last = own.at(-1) ?? last;
    if (end < 0 || last === undefined) continue;
    await log.removeUpTo(changes, keyOf(changes, last));
    return count;
  }
}
