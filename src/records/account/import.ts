import type { Instant } from "../../core/instant.ts";
import { type RRset, setKey, type ZoneRecord } from "../../core/records/rrset.ts";
import { compareSerials, withSerial } from "../../core/records/serial.ts";
import type { Fault } from "../../core/result.ts";
import { newRecordIds, newZoneId } from "../service/edit/new-id.ts";
import type { Account, RecordStore, WriteView, Zone, ZoneSettings } from "../store/port.ts";
import type { ReadZone } from "./read.ts";

/**
 * Zones that are there already: another account's stay in any case, one's own unless they shall be replaced. Without an account
 * it is not made yet.
 */
export async function importObstacles(
  store: RecordStore,
  account: Account | undefined,
  zones: readonly ReadZone[],
  replace: boolean,
): Promise<readonly Fault[]> {
  const faults: Fault[] = [];
  for (const { entry } of zones) {
    const held = await store.zoneHolding(entry.name);
    if (held?.name !== entry.name) continue;
    if (held.account !== account?.id)
      faults.push(
        taken(entry.name, "it belongs to another account", "delete it there first, or leave it out of the manifest"),
      );
    else if (!replace)
      faults.push(taken(entry.name, "it is there already", "with --replace it becomes as it is in the files"));
  }
  return faults;
}

const taken = (zone: string, message: string, todo: string): Fault => ({
  code: "zone-taken",
  where: `zone ${zone}`,
  message,
  todo,
});

/** One write a zone. */
export async function importZone(
  store: RecordStore,
  account: Account,
  zone: ReadZone,
  now: Instant,
): Promise<"made" | "replaced" | "same" | "taken"> {
  const there = await store.zoneBy(account.id, { name: zone.entry.name });
  if (there !== undefined) return await replaceZone(store, there, zone, now);
  const { entry, serial, sets } = zone;
  const newId = newRecordIds();
  let next = 0;
  const made = await store.createZone(
    {
      ...{ account: account.id, id: newZoneId(), name: entry.name, serial, created: now },
      settings: settingsFrom(entry, undefined, entry.primaries.map(newZoneId), now),
      sets: sets.map((set) => ({ ...set, records: set.records.map((record) => fresh(record, newId(next++), now)) })),
    },
    actor,
  );
  return made === "name-taken" ? "taken" : "made";
}

/** How the change log names it. */
const actor = "import";

async function replaceZone(
  store: RecordStore,
  { account, id }: Zone,
  zone: ReadZone,
  now: Instant,
): Promise<"replaced" | "same" | "taken"> {
  const newId = newRecordIds();
  const serverIds = zone.entry.primaries.map(newZoneId);
  const request = { account, at: { zone: id }, owners: "all", actor, now } as const;
  const before = await store.write<number>(request, (view) => {
    const newer = compareSerials(zone.serial, view.zone.serial) === 1 ? zone.serial : undefined;
    return {
      wanted: mergedSets(view, zone.sets, newId, now),
      settings: settingsFrom(zone.entry, view.zone.settings, serverIds, now),
      serial: newer,
      result: view.zone.serial,
    };
  });
  const after = await store.zone(account, id);
  if (before === undefined || after === undefined) return "taken";
  return after.serial === before ? "same" : "replaced";
}

/** Records that are there already keep their ids, and those that say the same their times. */
function mergedSets(
  { zone, sets }: WriteView,
  wanted: readonly RRset[],
  newId: (i: number) => string,
  now: Instant,
): readonly RRset[] {
  const before = new Map(sets.map((set) => [setKey(set.owner, set.type), set]));
  let next = 0;
  return wanted.map((set) => {
    const known = new Map(before.get(setKey(set.owner, set.type))?.records.map((record) => [record.rdata, record]));
    const records = set.records.map((record) => {
      const rdata = set.type === "SOA" ? withSerial(record.rdata, zone.serial) : record.rdata;
      const told = set.type === "SOA" ? { ...record, rdata, value: rdata } : record;
      const old = known.get(rdata);
      const made = fresh(told, newId(next++), now);
      if (old === undefined) return made;
      const same = old.value === told.value && old.comment === told.comment && old.name === told.name;
      return same ? old : { ...made, id: old.id, created: old.created };
    });
    return { ...set, records };
  });
}

const fresh = (record: ZoneRecord, id: string, now: Instant): ZoneRecord => ({
  ...record,
  id,
  created: now,
  modified: now,
});

/** A primary server that is there already keeps its id, its times and the key that no file has. */
function settingsFrom(
  entry: ReadZone["entry"],
  before: ZoneSettings | undefined,
  serverIds: readonly string[],
  now: Instant,
): ZoneSettings {
  const { mode, ttl, labels, locked } = entry;
  const primaries = entry.primaries.map(({ address, port, tsig }, i) => {
    const old = before?.primaries.find(
      (each) => each.address === address && each.port === port && each.tsig?.algorithm === tsig?.algorithm,
    );
    const key = tsig && { tsig: { algorithm: tsig.algorithm, key: "" } };
    return old ?? { id: serverIds[i] ?? newZoneId(), address, port, ...key, created: now, modified: now };
  });
  return { ttl, mode, labels, locked, primaries };
}
