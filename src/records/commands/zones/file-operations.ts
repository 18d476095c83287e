import { checkingNewSets } from "../../../core/records/check-new-sets.ts";
import { type Fault, fail, failAll, ok, type Result } from "../../../core/result.ts";
import type { Steps } from "../../../core/steps.ts";
import { findingClashes } from "../../../core/zone-file/clashes.ts";
import { parsingZoneFile, type ZoneFile } from "../../../core/zone-file/parse.ts";
import { printingParts, type ZoneFileLayout } from "../../../core/zone-file/print.ts";
import { type OwnSets, placeInFile } from "../../../core/zone-file/sets.ts";
import { findingZoneName } from "../../../core/zone-file/zone-name.ts";
import type { FairSchedule } from "../../../lib/limits/fair-schedule.ts";
import type { ZoneKey } from "../../model.ts";
import type { RecordServiceOptions } from "../../options.ts";
import {
  type Actor,
  type AnyZoneKey,
  missing,
  type NotDone,
  type PermittedView,
  refused,
} from "../../queries/permitted-view.ts";
import { zoneFaults } from "../edit/check-write.ts";
import type { IdempotencyOption, Written } from "../requests.ts";
import { earlierWritten, outcomeWithZone, runLongCommand, toWritten, writeObstacle } from "../write.ts";
import { type ImportDone, type ImportManner, importFileRule } from "./import-file.ts";
import type { LargeFiles } from "./large-files.ts";

type FileToImport = {
  readonly text: string;
  /** The file may leave out our nameservers. */
  readonly otherServers: boolean;
  /** Sets that are not in the file stay. */
  readonly merge: boolean;
  /** Undefined: those of the file, which must have them. */
  readonly own?: OwnSets | undefined;
};

type ImportOptions = IdempotencyOption & { readonly isTrial?: boolean };

export function zoneFileOperations(options: RecordServiceOptions, permittedView: PermittedView, tools: FileTools) {
  const { nameservers, mostRecords } = options;
  const { schedule, files } = tools;
  const importBy = importOperation(options, permittedView, tools);
  return {
    importV1File: async (actor: Actor, key: AnyZoneKey, text: string) =>
      await outcomeWithZone(permittedView, actor, key, await importBy({ kind: "v1" }, actor, key, text)),

    /**
     * Labels that the file does not name are lost, except by a merge; records that are in the file again keep their
     * ids. A trial is refused for the reasons of the import, and writes nothing.
     */
    importFile: (
      actor: Actor,
      key: ZoneKey,
      { text, otherServers, merge, own }: FileToImport,
      how?: ImportOptions,
    ): Promise<Written<ImportDone>> => {
      const kept = otherServers || own === "file" ? undefined : nameservers.map((server) => `${server}.`);
      return importBy({ kind: "rrsets", nameservers: kept, merge, own }, actor, key, text, how);
    },

    exportZone: exportOperation(permittedView, schedule),

    /** The number of records in a file, or all its faults; independent of any zone. */
    validateZoneFile: async (actor: Actor, text: string): Promise<Result<number>> => {
      const release = await files.hold(actor.account, text);
      return await schedule.run(actor.account, validatingZoneFile(text, mostRecords)).finally(release);
    },
  };
}

type FileTools = { readonly schedule: FairSchedule; readonly files: LargeFiles };

/**
 * Replaces the whole zone with the contents of the file, in one write. If the file has a fault, nothing is changed.
 */
function importOperation(options: RecordServiceOptions, permittedView: PermittedView, { schedule, files }: FileTools) {
  const { store, now, mostRecords } = options;
  return async (
    manner: ImportManner,
    actor: Actor,
    key: AnyZoneKey,
    text: string,
    { isTrial = false, ...idempotency }: ImportOptions = {},
  ): Promise<Written<ImportDone>> => {
    const zone = await permittedView.openZone(actor, key);
    if (zone === undefined)
      return "zone" in key ? missing("zone") : await earlierWritten(store, actor, key, idempotency, now());
    const obstacle = writeObstacle(permittedView, actor, zone);
    if (obstacle) return obstacle;
    const isV1 = manner.kind === "v1";
    const parsing = (isV1 ? readingZoneFile : parsingZoneFile)(text, zone.name, mostRecords);
    const release = await files.hold(actor.account, text);
    let isWriting = false;
    try {
      const file = await schedule.run(actor.account, parsing);
      if (!file.ok) return refused(isV1 ? file.faults : [...zoneFaults(zone), ...file.faults]);
      const at = "zone" in key ? { number: zone.number } : key;
      const by = { actor, at, now: now(), parts: file.value.sets.length, ...idempotency };
      const action = isV1 ? undefined : "import_zonefile";
      const command = { kind: "import-file", ...by, manner, file: file.value, action, isTrial } as const;
      if (isTrial) return toWritten<ImportDone>(await store.run(command, importFileRule));
      isWriting = true;
      return await runLongCommand(options, command, importFileRule, release);
    } finally {
      if (!isWriting) release();
    }
  };
}

/** The part of a zone that the actor may see, as the parts of a zone file. */
const exportOperation =
  (permittedView: PermittedView, schedule: FairSchedule) =>
  async (
    actor: Actor,
    key: AnyZoneKey,
    layout: ZoneFileLayout,
  ): Promise<{ kind: "done"; parts: readonly string[] } | NotDone> => {
    const zone = await permittedView.openZone(actor, key);
    if (zone === undefined) return missing("zone");
    const sets = await permittedView.sets(actor, zone);
    const { ttl, labels, locked, dnssec } = zone.settings;
    const printable = { name: zone.name, ttl, labels, locked, signed: dnssec !== undefined, sets };
    const printing = printingParts(printable, layout);
    return { kind: "done", parts: await schedule.run(actor.account, printing) };
  };

function* validatingZoneFile(text: string, mostRecords: number | undefined): Steps<Result<number>> {
  const name = yield* findingZoneName(text);
  if (name === undefined) return fail(noZoneName);
  const file = yield* readingZoneFile(text, name, mostRecords);
  if (!file.ok) return file;
  const { sets } = file.value;
  const refusals = placeInFile(yield* checkingNewSets([], sets), sets);
  const faults = [...(yield* findingClashes(sets)), ...refusals];
  return faults.length > 0 ? failAll(faults) : ok(sets.reduce((sum, set) => sum + set.records.length, 0));
}

/** Refuses a file without records, which would empty the zone; to do that, delete the zone. */
function* readingZoneFile(text: string, zoneName: string, mostRecords: number | undefined): Steps<Result<ZoneFile>> {
  const file = yield* parsingZoneFile(text, zoneName, mostRecords);
  return file.ok && file.value.sets.length === 0 ? fail(emptyFile) : file;
}

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
