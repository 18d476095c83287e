import { setImmediate as nextTurn } from "node:timers/promises";
import type { Instant } from "../../../core/instant.ts";
import type { Zone } from "../../model.ts";
import { readZone } from "../../queries/read-zone.ts";
import type { RecordStore } from "../../store/port.ts";

/** In milliseconds: resolvers keep nothing for longer, whatever the TTL (RFC 8767 section 4). */
const longestCached = 7 * 86_400_000;
/** More changes of a zone than these are not looked at, the latest first: some names change every second. */
const mostChanges = 10_000;
const changesAtOnce = 500;

/**
 * For how many seconds caches may have records of the zone as it is or was: the highest TTL in it, or what is left of a
 * higher one that was lowered or deleted, as far as the history goes.
 */
export async function longestInCaches(store: RecordStore, zone: Zone, now: Instant): Promise<number> {
  const sets = await readZone(store, zone);
  const highest = sets.reduce((most, { ttl }) => Math.max(most, ttl ?? 0), zone.settings.ttl);
  let longest = highest * 1_000;
  let usual = zone.settings.ttl;
  let before: number | undefined;
  for (let seen = 0; seen < mostChanges; seen += changesAtOnce) {
    const changes = await store.historyOf(zone, { before, limit: changesAtOnce });
    for (const { change, at } of changes) {
      if (at < now - longestCached) return Math.ceil(longest / 1_000);
      if (change.kind === "settings") usual = change.before.ttl;
      const ttl = change.before === null ? 0 : (change.before.ttl ?? usual);
      longest = Math.max(longest, Math.min(ttl * 1_000, longestCached) - Math.max(0, now - at));
    }
    before = changes.at(-1)?.position;
    if (changes.length < changesAtOnce) break;
    // SQLite answers without one: all pages together would delay others by a tenth of a second.
    await nextTurn();
  }
  return Math.ceil(longest / 1_000);
}
