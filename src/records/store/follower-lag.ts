import type { RecordStore } from "./port.ts";

/** How far one who follows the change log is behind: changes, and seconds since the oldest of them was seen here. */
export type FollowerLag = { readonly changes: number; readonly seconds: number };

/** Looks at how long log and follower were apart; more than these tell nothing new. */
const most = 100;

/**
 * Measured from look to look by the time that passes here. The times in the log are of the clocks of those who wrote it: one
 * that is some seconds behind would make every change that is just under way look old.
 */
export function createLagMeter(
  store: Pick<RecordStore, "lastChange">,
  followed: () => number,
  now: () => number = () => performance.now(),
): () => Promise<FollowerLag> {
  let seen: readonly { readonly position: number; readonly at: number }[] = [];
  return async () => {
    const last = await store.lastChange();
    const told = followed();
    const at = now();
    seen = seen.filter(({ position }) => position > told);
    if (last > (seen.at(-1)?.position ?? told) && seen.length < most) seen = [...seen, { position: last, at }];
    return { changes: Math.max(0, last - told), seconds: (at - (seen[0]?.at ?? at)) / 1_000 };
  };
}
