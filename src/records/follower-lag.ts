import type { Instant } from "../core/instant.ts";
import type { RecordStore } from "./store.ts";

/** How far one who follows the change log is behind: changes, and seconds since the oldest of them. */
export type FollowerLag = { readonly changes: number; readonly seconds: number };

type LogStore = Pick<RecordStore, "lastChange" | "changesAfter">;

export async function followerLag(store: LogStore, followed: number, now: Instant): Promise<FollowerLag> {
  const changes = Math.max(0, (await store.lastChange()) - followed);
  const [next] = changes === 0 ? [] : await store.changesAfter(followed, 1);
  return { changes, seconds: next === undefined ? 0 : Math.max(0, now - next.at) / 1_000 };
}
