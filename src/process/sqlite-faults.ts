import { StoreBusy } from "./store-busy.ts";

/** What the disk or another process is at fault for, and what may be over soon: nothing was written. */
export function asStoreBusy(error: unknown): unknown {
  const kind = sqliteKind(error);
  const reason = kind === undefined ? undefined : reasons.get(kind);
  return reason === undefined ? error : new StoreBusy(reason, { cause: error, retryAfter: 10 });
}

/** https://sqlite.org/rescode.html; the lowest byte is what kind it is. */
export function sqliteKind(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: unknown };
  return typeof errcode === "number" ? errcode & 0xff : undefined;
}

const reasons: ReadonlyMap<number, string> = new Map([
  [5, "the database is in use by another program"],
  [8, "the disk of the service cannot be written"],
  [10, "the disk of the service fails"],
  [13, "the disk of the service is full"],
]);
