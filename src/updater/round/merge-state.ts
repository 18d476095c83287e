import type { Instant } from "../../core/instant.ts";
import type { StoredAddress } from "./state-file.ts";

export type StateContent = {
  readonly entries: Record<string, StoredAddress>;
  readonly holds: Record<string, Instant>;
};

/** Takes what another process has stored since; of each name the newer entry counts. True when it lacks something of ours. */
export function mergeState(ours: StateContent, theirs: StateContent): boolean {
  for (const [key, entry] of Object.entries(theirs.entries)) {
    const own = ours.entries[key];
    if (!own || own.storedAt < entry.storedAt) ours.entries[key] = entry;
    else if (own.storedAt === entry.storedAt && entry.inDoubt) ours.entries[key] = { ...own, inDoubt: true };
  }
  for (const [target, until] of Object.entries(theirs.holds)) {
    ours.holds[target] = Math.max(until, ours.holds[target] ?? 0);
  }
  return Object.entries(ours.entries).some(([key, { storedAt }]) => storedAt !== theirs.entries[key]?.storedAt);
}
