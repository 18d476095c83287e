import { mostFileRecords } from "../../../contract/rrsets-limits.ts";
import type { Instant } from "../../../core/instant.ts";
import { apex } from "../../../core/names/name.ts";
import { checkingNewSets, checkNewSets } from "../../../core/records/check-new-sets.ts";
import { checkZone } from "../../../core/records/check-zone.ts";
import { type RRset, setKey, type ZoneRecord } from "../../../core/records/rrset.ts";
import { withSerial } from "../../../core/records/serial.ts";
import { type Fault, fail, failAll, ok, type Result } from "../../../core/result.ts";
import type { Steps } from "../../../core/steps.ts";
import { findingClashes } from "../../../core/zone-file/clashes.ts";
import { parsingZoneFile, type ZoneFile } from "../../../core/zone-file/parse.ts";
import { printingZoneFile, type ZoneFileLayout } from "../../../core/zone-file/print.ts";
import { placeInFile } from "../../../core/zone-file/sets.ts";
import { findingZoneName } from "../../../core/zone-file/zone-name.ts";
import type { Turns } from "../../../process/turns.ts";
import type { Zone } from "../../model.ts";
import type { WriteView } from "../../store/port.ts";
import { lockFaults, zoneFaults } from "../edit/check-write.ts";
import { newRecordId } from "../edit/new-id.ts";
import type { RecordServiceOptions } from "../options.ts";
import { type Actor, denied, missing, type NotDone, refused, type Sight } from "../sight.ts";

export function zoneFileOperations({ store, now }: RecordServiceOptions, sight: Sight, turns: Turns) {
  return {
    /** Replaces all of a zone by what the file says, in one write; nothing is changed when there is a fault in it. */
    importZone: async (actor: Actor, id: string, text: string): Promise<{ kind: "done"; zone: Zone } | NotDone> => {
      const zone = await sight.zone(actor, id);
      if (zone === undefined) return missing("zone");
      const refusal = sight.refusal(actor, { kind: "write-zone", zone: zone.name });
      if (refusal) return denied(refusal);
      const file = await turns.run(actor.account, readingZoneFile(text, zone.name));
      if (!file.ok) return refused(file.faults);
      const at = now();
      const ids = file.value.sets.map((set) => set.records.map(newRecordId));
      const request = { account: actor.account, at: { zone: id }, owners: "all", actor: actor.label, now: at } as const;
      const outcome = await store.write<"done" | NotDone>(request, (view) => {
        const wanted = setsFrom(view, file.value, ids, at);
        const faults = importFaults(view, wanted, file.value);
        if (faults.length > 0) return { wanted: undefined, result: refused(faults) };
        const { settings } = view.zone;
        return { wanted, settings: { ...settings, ttl: file.value.ttl ?? settings.ttl }, result: "done" };
      });
      if (outcome !== undefined && outcome !== "done") return outcome;
      const after = await sight.zone(actor, id);
      return after === undefined ? missing("zone") : { kind: "done", zone: after };
    },

    /** What the actor may see of a zone, as a file. */
    exportZone: async (
      actor: Actor,
      id: string,
      layout: ZoneFileLayout,
    ): Promise<{ kind: "done"; text: string } | NotDone> => {
      const zone = await sight.zone(actor, id);
      if (zone === undefined) return missing("zone");
      const sets = await sight.sets(actor, zone);
      const printing = printingZoneFile({ name: zone.name, ttl: zone.settings.ttl, sets }, layout);
      return { kind: "done", text: await turns.run(actor.account, printing) };
    },

    /** How many records a file has, or every fault in it; for no zone in particular. */
    validateZoneFile: (actor: Actor, text: string): Promise<Result<number>> =>
      turns.run(actor.account, validatingZoneFile(text)),
  };
}

function* validatingZoneFile(text: string): Steps<Result<number>> {
  const name = yield* findingZoneName(text);
  if (name === undefined) return fail(noZoneName);
  const file = yield* readingZoneFile(text, name);
  if (!file.ok) return file;
  const { sets } = file.value;
  const refusals = placeInFile(yield* checkingNewSets([], sets), sets);
  const faults = [...(yield* findingClashes(sets)), ...refusals];
  return faults.length > 0 ? failAll(faults) : ok(sets.reduce((sum, set) => sum + set.records.length, 0));
}

/** A file without a record would empty the zone; who wants that deletes the zone. */
function* readingZoneFile(text: string, zoneName: string): Steps<Result<ZoneFile>> {
  const file = yield* parsingZoneFile(text, zoneName, mostFileRecords);
  return file.ok && file.value.sets.length === 0 ? fail(emptyFile) : file;
}

function importFaults(view: WriteView, wanted: readonly RRset[], file: ZoneFile): readonly Fault[] {
  const faults = [
    ...zoneFaults(view.zone),
    ...lockFaults(view.sets, wanted),
    ...checkZone(wanted),
    ...checkNewSets(view.sets, wanted),
  ];
  return placeInFile(faults, file.sets);
}

/** Records that were there keep their ids, times and spelling; without an SOA record in the file, so does the SOA. */
function setsFrom(
  { zone, sets }: WriteView,
  file: ZoneFile,
  ids: readonly (readonly string[])[],
  now: Instant,
): readonly RRset[] {
  const before = new Map(sets.map((set) => [setKey(set.owner, set.type), set]));
  const wanted = file.sets.map((set, i): RRset => {
    const old = before.get(setKey(set.owner, set.type));
    const known = new Map(old?.records.map((record) => [record.rdata, record]));
    const records = set.records.map(({ value, rdata, comment }, j): ZoneRecord => {
      const data = set.type === "SOA" ? withSerial(rdata, zone.serial) : rdata;
      const same = known.get(data);
      if (same !== undefined && (comment === "" || comment === same.comment)) return same;
      if (same !== undefined) return { ...same, comment, modified: now };
      const text = set.type === "SOA" ? data : value;
      const id = ids[i]?.[j] ?? newRecordId();
      return { id, name: set.owner, value: text, rdata: data, comment, created: now, modified: now };
    });
    return { ...old, owner: set.owner, type: set.type, ttl: set.ttl, records };
  });
  const soa = before.get(setKey(apex, "SOA"));
  return soa === undefined || wanted.some((set) => set.type === "SOA") ? wanted : [soa, ...wanted];
}

const noZoneName: Fault = {
  code: "no-zone-name",
  where: "file",
  message: "the file does not say which zone it is for",
  todo: "begin it with a line such as $ORIGIN example.org.",
};

const emptyFile: Fault = {
  code: "empty-file",
  where: "file",
  message: "there is no record in the file",
  todo: "send the text of a zone file as the body of the request",
};
