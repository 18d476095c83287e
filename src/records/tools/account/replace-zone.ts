import { checkSignedZone } from "../../../core/dnssec/check-signed-zone.ts";
import { withFittingExpire } from "../../../core/dnssec/soa-expire.ts";
import type { Instant } from "../../../core/instant.ts";
import { type RRset, setKey, type ZoneRecord } from "../../../core/records/rrset.ts";
import { compareSerials, withSerial } from "../../../core/records/serial.ts";
import type { Fault } from "../../../core/result.ts";
import { signedStaysPrimary } from "../../commands/edit/check-write.ts";
import type { NewZone, PrimaryServer, ZoneSettings } from "../../model.ts";
import { newRecordIds, newZoneId } from "../../new-id.ts";
import type { WriteRule, WriteView } from "../../store/port.ts";

/**
 * A zone of an account that was exported. Its records have no ids and no times yet, and its primary servers no keys.
 */
export type ImportedZone = {
  readonly entry: Pick<ZoneSettings, "mode" | "ttl" | "labels" | "locked"> & {
    readonly name: string;
    readonly primaries: readonly ImportedServer[];
  };
  readonly serial: number;
  readonly sets: readonly RRset[];
};

type ImportedServer = Pick<PrimaryServer, "address" | "port"> & {
  readonly tsig?: Pick<NonNullable<PrimaryServer["tsig"]>, "algorithm"> | undefined;
};

/** The name of the import in the change log. */
export const importer = "import";

/** The zone, if it does not exist yet. */
export function firstContent({ entry, serial, sets }: ImportedZone, now: Instant): Omit<NewZone, "account" | "id"> {
  const newId = newRecordIds();
  let next = 0;
  return {
    name: entry.name,
    serial,
    created: now,
    settings: settingsFrom(entry, undefined, entry.primaries.map(newZoneId), now),
    sets: sets.map((set) => ({
      ...set,
      records: set.records.map((record) => newRecord(record, newId(next++), now)),
    })),
  };
}

/** Makes an existing zone equal to an imported one. */
export type ReplaceZone = {
  readonly kind: "replace-zone";
  readonly account: number;
  readonly zone: string;
  readonly wanted: ImportedZone;
  readonly parts: number;
  readonly now: Instant;
};

/** The result is the serial of the zone before the write, or why it cannot be replaced. */
export function replaceZoneRule({ account, zone, wanted, now }: ReplaceZone): WriteRule<number | Fault> {
  const [newId, serverIds] = [newRecordIds(), wanted.entry.primaries.map(newZoneId)];
  return {
    kind: "write",
    request: { account, at: { zone }, owners: "all", actor: importer, now },
    decide: (view) => {
      const sets = view.zone.settings.dnssec ? withFittingExpire(wanted.sets) : wanted.sets;
      const fault = signedFault(view, { ...wanted, sets });
      if (fault) return { wanted: undefined, result: fault };
      return {
        wanted: mergedSets(view, sets, newId, now),
        settings: settingsFrom(wanted.entry, view.zone.settings, serverIds, now),
        serial: compareSerials(wanted.serial, view.zone.serial) === 1 ? wanted.serial : undefined,
        result: view.zone.serial,
      };
    },
  };
}

/** A signed zone stays signed with its keys, whatever the files say. */
function signedFault({ zone, sets: before }: WriteView, { entry, sets }: ImportedZone): Fault | undefined {
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
    const oldRecords = new Map(
      before.get(setKey(set.owner, set.type))?.records.map((record) => [record.rdata, record]),
    );
    const records = set.records.map((record) => {
      const rdata = set.type === "SOA" ? withSerial(record.rdata, zone.serial) : record.rdata;
      const next = set.type === "SOA" ? { ...record, rdata, value: rdata } : record;
      const old = oldRecords.get(rdata);
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
  entry: ImportedZone["entry"],
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
  return {
    ttl,
    mode,
    labels,
    locked,
    primaries,
    ...(before?.dnssec && { dnssec: before.dnssec }),
    ...(before?.published && { published: before.published }),
  };
}
