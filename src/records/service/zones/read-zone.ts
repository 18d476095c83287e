import { apex } from "../../../core/names/name.ts";
import { type RRset, setKey } from "../../../core/records/rrset.ts";
import type { LoggedChange, Zone } from "../../model.ts";
import type { RecordStore } from "../../store/port.ts";
import { atZoneSerial } from "../../store/rows.ts";

/** Read without a pause, so it must not take more than a few milliseconds. */
const pageSize = 500;

/** A zone of more records is large: it is read in parts, and an account has one answer about such a one at a time. */
export const largeZone = 1_000;

const soaKey = setKey(apex, "SOA");

type ZoneReads = Pick<RecordStore, "sets" | "setsAfter" | "lastChange" | "historyOf">;

/**
 * All sets of a zone as they are at one moment, though a large one is read in parts with `pause` between them: what was written
 * meanwhile is taken from the log. None when the zone was deleted meanwhile.
 */
export async function readZone(store: ZoneReads, zone: Zone, pause: () => Promise<void>): Promise<readonly RRset[]> {
  if (zone.recordCount <= largeZone) return await store.sets(zone, {});
  const start = await store.lastChange();
  const sets = new Map<string, RRset>();
  for (let last: RRset | undefined; ; ) {
    await pause();
    const page = await store.setsAfter(zone, last, pageSize);
    for (const set of page) sets.set(setKey(set.owner, set.type), set);
    last = page.at(-1);
    if (page.length < pageSize) break;
  }
  const missed = await changesSince(store, zone, start, pause);
  for (const { change } of missed) {
    if (change.kind === "settings") continue;
    const key = setKey(change.owner, change.type);
    if (change.after === null) sets.delete(key);
    else sets.set(key, change.after);
  }
  const { serial = zone.serial, at: modified = zone.modified } = missed.at(-1) ?? {};
  const now = { ...zone, serial, modified };
  const soa = sets.get(soaKey);
  if (soa) sets.set(soaKey, atZoneSerial(soa, now));
  return [...sets.values()];
}

/** Oldest first, up to the last one when this is called. */
async function changesSince(
  store: ZoneReads,
  zone: Zone,
  start: number,
  pause: () => Promise<void>,
): Promise<readonly LoggedChange[]> {
  const found: LoggedChange[] = [];
  for (let before: number | undefined; ; ) {
    const rows = await store.historyOf(zone, { limit: pageSize, ...(before !== undefined && { before }) });
    found.push(...rows.filter((row) => row.position > start));
    before = rows.at(-1)?.position;
    if (before === undefined || before <= start || rows.length < pageSize) return found.reverse();
    await pause();
  }
}
