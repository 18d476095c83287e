import { mostFileRecords } from "../../../contract/rrsets-limits.ts";
import { checkingNewSets } from "../../../core/records/check-new-sets.ts";
import { type Fault, fail, failAll, ok, type Result } from "../../../core/result.ts";
import type { Steps } from "../../../core/steps.ts";
import { findingClashes } from "../../../core/zone-file/clashes.ts";
import { parsingZoneFile, type ZoneFile } from "../../../core/zone-file/parse.ts";
import { printingParts, type ZoneFileLayout } from "../../../core/zone-file/print.ts";
import { placeInFile } from "../../../core/zone-file/sets.ts";
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
import { earlierWritten, outcomeWithZone, runLongCommand, writeObstacle } from "../write.ts";
import { type ImportManner, importFileRule } from "./import-file.ts";

type FileToImport = { readonly text: string; readonly otherServers: boolean };

export function zoneFileOperations(
  options: RecordServiceOptions,
  permittedView: PermittedView,
  schedule: FairSchedule,
) {
  const { store, now, nameservers } = options;
  /**
   * Replaces the whole zone with the contents of the file, in one write. If the file has a fault, nothing is changed.
   */
  const importBy = async (
    manner: ImportManner,
    actor: Actor,
    key: AnyZoneKey,
    text: string,
    idempotency?: IdempotencyOption,
  ) => {
    const zone = await permittedView.openZone(actor, key);
    if (zone === undefined)
      return "zone" in key ? missing("zone") : await earlierWritten(store, actor, key, idempotency ?? {}, now());
    const obstacle = writeObstacle(permittedView, actor, zone);
    if (obstacle) return obstacle;
    const isV1 = manner.kind === "v1";
    const parsing = isV1 ? readingZoneFile(text, zone.name) : parsingZoneFile(text, zone.name, mostFileRecords);
    const file = await schedule.run(actor.account, parsing);
    if (!file.ok) return refused(isV1 ? file.faults : [...zoneFaults(zone), ...file.faults]);
    const clashes = await schedule.run(actor.account, findingClashes(file.value.sets));
    const at = "zone" in key ? { number: zone.number } : key;
    const by = { actor, at, now: now(), parts: file.value.sets.length, ...idempotency };
    const action = isV1 ? undefined : "import_zonefile";
    const command = { kind: "import-file", ...by, manner, file: file.value, clashes, action } as const;
    return await runLongCommand(options, command, importFileRule);
  };

  return {
    importV1File: async (actor: Actor, key: AnyZoneKey, text: string) =>
      await outcomeWithZone(permittedView, actor, key, await importBy({ kind: "v1" }, actor, key, text)),

    /**
     * Labels are lost; records that are in the file again keep their ids. `otherServers`: the file may leave out our
     * nameservers.
     */
    importFile: (
      actor: Actor,
      key: ZoneKey,
      { text, otherServers }: FileToImport,
      idempotency?: IdempotencyOption,
    ): Promise<Written> => {
      const kept = otherServers ? undefined : nameservers.map((server) => `${server}.`);
      return importBy({ kind: "rrsets", nameservers: kept }, actor, key, text, idempotency);
    },

    exportZone: exportOperation(permittedView, schedule),

    /** The number of records in a file, or all its faults; independent of any zone. */
    validateZoneFile: (actor: Actor, text: string): Promise<Result<number>> =>
      schedule.run(actor.account, validatingZoneFile(text)),
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
    const printing = printingParts({ name: zone.name, ttl: zone.settings.ttl, sets }, layout);
    return { kind: "done", parts: await schedule.run(actor.account, printing) };
  };

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

/** Refuses a file without records, which would empty the zone; to do that, delete the zone. */
function* readingZoneFile(text: string, zoneName: string): Steps<Result<ZoneFile>> {
  const file = yield* parsingZoneFile(text, zoneName, mostFileRecords);
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
