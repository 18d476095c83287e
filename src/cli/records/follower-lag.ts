import type { RecordStore } from "../../records/store/port.ts";

/**
 * How far a follower of the change log lags: unread changes, and seconds since the oldest of them was first seen here.
 */
export type FollowerLag = { readonly changes: number; readonly seconds: number };

/** The maximum number of remembered positions; more would not make the result any better. */
const most = 100;

/**
 * Measures with this process's own clock, from call to call. The times in the log come from the clocks of the
 * writers: if one is some seconds slow, every change that is just being read would look old.
 */
export function createLagMeter(
  store: Pick<RecordStore, "lastChange">,
  followed: () => number,
  now: () => number = () => performance.now(),
): () => Promise<FollowerLag> {
  let seen: readonly { readonly position: number; readonly at: number }[] = [];
  return async () => {
    const last = await store.lastChange();
    const read = followed();
    const at = now();
    seen = seen.filter(({ position }) => position > read);
    if (last > (seen.at(-1)?.position ?? read) && seen.length < most) seen = [...seen, { position: last, at }];
    return { changes: Math.max(0, last - read), seconds: (at - (seen[0]?.at ?? at)) / 1_000 };
  };
}
