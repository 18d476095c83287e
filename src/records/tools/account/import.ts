import { checkSignedZone } from "../../../core/dnssec/check-signed-zone.ts";
import type { Instant } from "../../../core/instant.ts";
import { enclosing } from "../../../core/names/name.ts";
import { type RRset, setKey, type ZoneRecord } from "../../../core/records/rrset.ts";
import { compareSerials, withSerial } from "../../../core/records/serial.ts";
import type { Fault } from "../../../core/result.ts";
import { signedStaysPrimary } from "../../commands/edit/check-write.ts";
import { newRecordIds, newZoneId } from "../../commands/edit/new-id.ts";
import { zoneNotCreated } from "../../commands/zones/refused-zone.ts";
import { reservedName } from "../../commands/zones/reserved-names.ts";
import type { Account, Zone, ZoneSettings } from "../../model.ts";
import type { NotCreated, RecordStore, WriteView } from "../../store/port.ts";
import type { ReadZone } from "./read.ts";

/**
 * What prevents the import: existing zones of other accounts, existing zones of this account unless `replace` is set, and names that
 * the account may not have. `account` is undefined if it does not exist yet.
 */
export async function importObstacles(
  store: RecordStore,
  account: Account | undefined,
  zones: readonly ReadZone[],
  replace: boolean,
): Promise<readonly Fault[]> {
  const faults: Fault[] = [];
  const names = new Set(zones.map(({ entry }) => entry.name));
  for (const { entry } of zones) {
    const { name } = entry;
    const wish = { name, account: account?.id ?? nobody, reserved: await reservedName(name) };
    const obstacle = await store.obstacleTo(wish);
    // If another zone of this import is above it, it will be inside a zone of the same account.
    const isInside = enclosing(name)
      .slice(1)
      .some((above) => names.has(above));
    if (obstacle === undefined || (obstacle === "inside-foreign-zone" && isInside)) continue;
    if (obstacle !== "name-taken") faults.push(notAllowed(name, obstacle));
    else if (account === undefined || (await store.zoneBy(account.id, { name })) === undefined)
      faults.push(
        taken(name, "it belongs to another account", "delete it there first, or remove it from the manifest"),
      );
    else if (!replace) faults.push(taken(name, "it already exists", "use --replace to overwrite it from the files"));
  }
  return faults;
}

/** No account has this number. */
const nobody = 0;

/** Parents first, so that a zone below them is inside a zone of the same account. */
export const inOrder = (zones: readonly ReadZone[]): readonly ReadZone[] =>
  zones.toSorted((a, b) => a.entry.name.length - b.entry.name.length);

/** The import runs on the machine of the service, so the user is the operator and can allow it. */
const notAllowed = (name: string, why: NotCreated): Fault => {
  const { code, message } = zoneNotCreated(name, why);
  return {
    code,
    where: `zone ${name}`,
    message,
    todo: "allow it with moor grant add, or remove it from the manifest",
  };
};

const taken = (zone: string, message: string, todo: string): Fault => ({
  code: "zone-taken",
  where: `zone ${zone}`,
  message,
  todo,
});

type Imported = "made" | "replaced" | "same" | Fault;

/** One write per zone. */
export async function importZone(
  store: RecordStore,
  account: Account,
  zone: ReadZone,
  now: Instant,
): Promise<Imported> {
  const there = await store.zoneBy(account.id, { name: zone.entry.name });
  if (there !== undefined) return await replaceZone(store, there, zone, now);
  const { entry, serial, sets } = zone;
  const newId = newRecordIds();
  let next = 0;
  const made = await store.createZone(
    {
      ...{ account: account.id, id: newZoneId(), name: entry.name, serial, created: now },
      reserved: await reservedName(entry.name),
      settings: settingsFrom(entry, undefined, entry.primaries.map(newZoneId), now),
      sets: sets.map((set) => ({
        ...set,
        records: set.records.map((record) => newRecord(record, newId(next++), now)),
      })),
    },
    actor,
  );
  if (typeof made !== "string") return "made";
  return made === "name-taken" ? takenMeanwhile(entry.name) : notAllowed(entry.name, made);
}

const takenMeanwhile = (name: string): Fault =>
  taken(name, "it was created or deleted by someone else during the import", "run the import again");

/** The name of the import in the change log. */
const actor = "import";

async function replaceZone(store: RecordStore, { account, id }: Zone, zone: ReadZone, now: Instant): Promise<Imported> {
  const newId = newRecordIds();
  const serverIds = zone.entry.primaries.map(newZoneId);
  const request = { account, at: { zone: id }, owners: "all", actor, now } as const;
  const before = await store.write<number | Fault>(request, (view) => {
    const fault = signedFault(view, zone);
    if (fault) return { wanted: undefined, result: fault };
    const newer = compareSerials(zone.serial, view.zone.serial) === 1 ? zone.serial : undefined;
    return {
      wanted: mergedSets(view, zone.sets, newId, now),
      settings: settingsFrom(zone.entry, view.zone.settings, serverIds, now),
      serial: newer,
      result: view.zone.serial,
    };
  });
  if (typeof before === "object") return before;
  const after = await store.zone(account, id);
  if (before === undefined || after === undefined) return takenMeanwhile(zone.entry.name);
  return after.serial === before ? "same" : "replaced";
}

/** A signed zone stays signed with its keys, whatever the files say. */
function signedFault({ zone, sets: before }: WriteView, { entry, sets }: ReadZone): Fault | undefined {
  const { name, settings } = zone;
  if (settings.dnssec === undefined) return undefined;
  const fault =
    entry.mode === "secondary"
      ? signedStaysPrimary(name)
      : checkSignedZone({ zone: name, denial: settings.dnssec.denial }, before, sets)[0];
  return fault && { ...fault, where: `zone ${name}` };
}

/** Existing records keep their ids, and unchanged ones also keep their times. */
function mergedSets(
  { zone, sets }: WriteView,
  wanted: readonly RRset[],
  newId: (i: number) => string,
  now: Instant,
): readonly RRset[] {
  const before = new Map(sets.map((set) => [setKey(set.owner, set.type), set]));
  let made = 0;
  return wanted.map((set) => {
    const known = new Map(before.get(setKey(set.owner, set.type))?.records.map((record) => [record.rdata, record]));
    const records = set.records.map((record) => {
      const rdata = set.type === "SOA" ? withSerial(record.rdata, zone.serial) : record.rdata;
      const next = set.type === "SOA" ? { ...record, rdata, value: rdata } : record;
      const old = known.get(rdata);
      const created = newRecord(next, newId(made++), now);
      if (old === undefined) return created;
      const same = old.value === next.value && old.comment === next.comment && old.name === next.name;
      return same ? old : { ...created, id: old.id, created: old.created };
    });
    return { ...set, records };
  });
}

const newRecord = (record: ZoneRecord, id: string, now: Instant): ZoneRecord => ({
  ...record,
  id,
  created: now,
  modified: now,
});

/** An existing primary server keeps its id, its times and its key, which is not in the files. */
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
  return { ttl, mode, labels, locked, primaries, ...(before?.dnssec && { dnssec: before.dnssec }) };
}
