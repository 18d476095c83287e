import { lowestTtl, mostFileRecords } from "../../../contract/rrsets-limits.ts";
import { withFittingExpire } from "../../../core/dnssec/soa-expire.ts";
import type { Instant } from "../../../core/instant.ts";
import { lostServers } from "../../../core/names/lost-servers.ts";
import { apex } from "../../../core/names/name.ts";
import { checkingNewSets } from "../../../core/records/check-new-sets.ts";
import { checkSoaExists } from "../../../core/records/check-zone.ts";
import { type RRset, setKey, type ZoneRecord } from "../../../core/records/rrset.ts";
import { withSerial } from "../../../core/records/serial.ts";
import { type Fault, fail, failAll, ok, type Result } from "../../../core/result.ts";
import { mapInSteps, type Steps } from "../../../core/steps.ts";
import { findingClashes } from "../../../core/zone-file/clashes.ts";
import { lowTtls } from "../../../core/zone-file/low-ttls.ts";
import { parsingZoneFile, type ZoneFile } from "../../../core/zone-file/parse.ts";
import { printingParts, type ZoneFileLayout } from "../../../core/zone-file/print.ts";
import { placeInFile } from "../../../core/zone-file/sets.ts";
import { findingZoneName } from "../../../core/zone-file/zone-name.ts";
import type { Turns } from "../../../lib/limits/turns.ts";
import type { ZoneKey } from "../../model.ts";
import { newRecordIds } from "../../new-id.ts";
import type { RecordServiceOptions } from "../../options.ts";
import { type Actor, type AnyZoneKey, missing, type NotDone, refused, type Sight } from "../../queries/sight.ts";
import type { ActDecision, WriteView } from "../../store/port.ts";
import { lockFaults, signingFaults, zoneFaults } from "../edit/check-write.ts";
import type { Asked, Done, Written } from "../requests.ts";
import { actWatched, noChange, withZone, writeObstacle, writtenBefore, writtenBy } from "../write.ts";
import { setsLocked } from "./create-delete.ts";
import { importedSets } from "./first-sets.ts";

/** How one of the APIs turns a zone file into sets, and what it refuses. */
type Manner = {
  readonly command?: string;
  readonly reading: (text: string, zoneName: string) => Steps<Result<ZoneFile>>;
  readonly setsOf: (view: WriteView, file: ZoneFile, stamp: ImportStamp) => Steps<readonly RRset[]>;
  /** `clashes`: sets of the file that cannot coexist. */
  readonly findingFaults: (
    view: WriteView,
    wanted: readonly RRset[],
    file: ZoneFile,
    clashes: readonly Fault[],
  ) => Steps<readonly Fault[]>;
};

type FileToImport = { readonly text: string; readonly otherServers: boolean };

type ImportStamp = { readonly now: Instant; readonly newIds: NewIds };
type NewIds = readonly ((i: number) => string)[];

export function zoneFileOperations(options: RecordServiceOptions, sight: Sight, turns: Turns) {
  const { store, now, nameservers } = options;
  /** Replaces the whole zone with the contents of the file, in one write. If the file has a fault, nothing is changed. */
  const importBy = async (
    manner: Manner,
    actor: Actor,
    key: AnyZoneKey,
    text: string,
    asked?: Asked,
  ): Promise<Written> => {
    const zone = await sight.openZone(actor, key);
    if (zone === undefined)
      return "zone" in key ? missing("zone") : await writtenBefore(store, actor, key, asked ?? {}, now());
    const obstacle = writeObstacle(sight, actor, zone);
    if (obstacle) return obstacle;
    const file = await turns.run(actor.account, manner.reading(text, zone.name));
    if (!file.ok) return refused(manner.command ? [...zoneFaults(zone), ...file.faults] : file.faults);
    const { newIds, clashes } = await turns.run(actor.account, preparing(file.value));
    const stamp = { now: now(), newIds };
    const decide = function* (view: WriteView): Steps<ActDecision<Done | NotDone>> {
      const sets = yield* manner.setsOf(view, file.value, stamp);
      const wanted = view.zone.settings.dnssec ? withFittingExpire(sets) : sets;
      const faults = yield* manner.findingFaults(view, wanted, file.value, clashes);
      if (faults.length > 0) return noChange(refused(faults));
      const settings = { ...view.zone.settings, ttl: file.value.ttl ?? view.zone.settings.ttl };
      return { wanted, settings, ...(manner.command && { command: manner.command }), result: { kind: "done" } };
    };
    await actor.expectAccess?.();
    const at = "zone" in key ? { number: zone.number } : key;
    const request = { ...writtenBy(actor, stamp.now), at, owners: "all" as const, ...asked };
    return await actWatched(options, request, decide, manner.command);
  };

  const rrsetsManner = (otherServers: boolean): Manner => ({
    command: "import_zonefile",
    reading: (text, zoneName) => parsingZoneFile(text, zoneName, mostFileRecords),
    setsOf: importedSets,
    *findingFaults({ zone, sets: before }, wanted, file, clashes) {
      const refusals = yield* checkingNewSets(before, wanted);
      return [
        ...zoneFaults(zone),
        ...(before.some((set) => set.locked) ? [setsLocked] : []),
        ...lowTtls(file, lowestTtl),
        ...lostServers(
          otherServers ? [] : serversNamed(before),
          serversNamed(wanted),
          nameservers.map((server) => `${server}.`),
        ),
        ...placeInFile(
          [...clashes, ...checkSoaExists(wanted), ...signingFaults(zone, before, wanted), ...refusals],
          file.sets,
        ),
      ];
    },
  });

  return {
    importV1File: async (actor: Actor, key: AnyZoneKey, text: string) =>
      await withZone(sight, actor, key, await importBy(v1Manner, actor, key, text)),

    /** Labels are lost; records that are in the file again keep their ids. `otherServers`: the file may leave out our nameservers. */
    importFile: (actor: Actor, key: ZoneKey, { text, otherServers }: FileToImport, asked?: Asked) =>
      importBy(rrsetsManner(otherServers), actor, key, text, asked),

    /** The part of a zone that the actor may see, as the parts of a zone file. */
    exportZone: async (
      actor: Actor,
      key: AnyZoneKey,
      layout: ZoneFileLayout,
    ): Promise<{ kind: "done"; parts: readonly string[] } | NotDone> => {
      const zone = await sight.openZone(actor, key);
      if (zone === undefined) return missing("zone");
      const sets = await sight.sets(actor, zone);
      const printing = printingParts({ name: zone.name, ttl: zone.settings.ttl, sets }, layout);
      return { kind: "done", parts: await turns.run(actor.account, printing) };
    },

    /** The number of records in a file, or all its faults; independent of any zone. */
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

/** What does not depend on the zone is done before the transaction, during which everybody waits. */
function* preparing({ sets }: ZoneFile): Steps<{ readonly newIds: NewIds; readonly clashes: readonly Fault[] }> {
  const newIds = yield* mapInSteps(sets, ({ records }) => {
    const ids = newRecordIds();
    for (const i of records.keys()) ids(i);
    return ids;
  });
  return { newIds, clashes: yield* findingClashes(sets) };
}

/** Refuses a file without records, which would empty the zone; to do that, delete the zone. */
function* readingZoneFile(text: string, zoneName: string): Steps<Result<ZoneFile>> {
  const file = yield* parsingZoneFile(text, zoneName, mostFileRecords);
  return file.ok && file.value.sets.length === 0 ? fail(emptyFile) : file;
}

const v1Manner: Manner = {
  reading: readingZoneFile,
  setsOf: keptSets,
  *findingFaults({ zone, sets }, wanted, file, clashes) {
    const refusals = yield* checkingNewSets(sets, wanted);
    const ofZone = [...zoneFaults(zone), ...lockFaults(sets, wanted), ...signingFaults(zone, sets, wanted)];
    const others = [...ofZone, ...clashes, ...checkSoaExists(wanted)];
    return placeInFile([...others, ...refusals], file.sets);
  },
};

/** Existing records keep their ids, times and spelling. If the file has no SOA record, the zone keeps its own. */
function* keptSets({ zone, sets }: WriteView, file: ZoneFile, { now, newIds }: ImportStamp): Steps<readonly RRset[]> {
  const before = new Map(sets.map((set) => [setKey(set.owner, set.type), set]));
  const wanted = yield* mapInSteps(file.sets, (set, i): RRset => {
    const old = before.get(setKey(set.owner, set.type));
    const known = new Map(old?.records.map((record) => [record.rdata, record]));
    const records = set.records.map(({ value, rdata, comment }, j): ZoneRecord => {
      const data = set.type === "SOA" ? withSerial(rdata, zone.serial) : rdata;
      const same = known.get(data);
      if (same !== undefined && (comment === "" || comment === same.comment)) return same;
      if (same !== undefined) return { ...same, comment, modified: now };
      const text = set.type === "SOA" ? data : value;
      const id = (newIds[i] ?? newRecordIds())(j);
      return { id, name: set.owner, value: text, rdata: data, comment, created: now, modified: now };
    });
    return { ...old, owner: set.owner, type: set.type, ttl: set.ttl, records };
  });
  const soa = before.get(setKey(apex, "SOA"));
  return soa === undefined || wanted.some((set) => set.type === "SOA") ? wanted : [soa, ...wanted];
}

const serversNamed = (sets: readonly RRset[]): readonly string[] =>
  sets.filter((set) => set.owner === "@" && set.type === "NS").flatMap((set) => set.records.map((r) => r.rdata));

const noZoneName: Fault = {
  code: "no-zone-name",
  where: "file",
  message: "the file does not say which zone it is for",
  todo: "start it with a line such as $ORIGIN example.org.",
};

const emptyFile: Fault = {
  code: "empty-file",
  where: "file",
  message: "the file contains no records",
  todo: "send a zone file as the request body",
};
