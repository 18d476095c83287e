import type { Fault } from "../../core/result.ts";
import type { FairSchedule } from "../../lib/limits/fair-schedule.ts";
import { newRecordId } from "../new-id.ts";
import type { RecordServiceOptions } from "../options.ts";
import { type Actor, missing, type PermittedView, refused } from "../queries/permitted-view.ts";
import { mapInParts } from "./edit/map-in-parts.ts";
import { zoneStays } from "./edit-record.ts";
import {
  type ChangedEntry,
  createRecordsRule,
  type NewEntry,
  type Numbered,
  type Outcomes,
  outcomesOf,
  replaceRecordsRule,
  unprocessed,
} from "./edit-records.ts";
import type { BulkOutcome, OrFaults } from "./requests.ts";

/** Many records, in one write per zone. Outcomes are in the order of the entries. */
export function bulkOperations(
  { store, now }: RecordServiceOptions,
  permittedView: PermittedView,
  schedule: Pick<FairSchedule, "next">,
) {
  return {
    /** All or none, in one transaction. */
    createRecords: async (actor: Actor, entries: readonly OrFaults<NewEntry>[]): Promise<readonly BulkOutcome[]> => {
      const ids = entries.map(newRecordId);
      const by = { actor, now: now(), parts: entries.length };
      return await store.run({ kind: "create-records", ...by, entries, ids }, createRecordsRule);
    },

    /** Replaces the valid ones, one transaction per zone; none if an entry names a zone that its record is not in. */
    replaceRecords: async (
      actor: Actor,
      entries: readonly OrFaults<ChangedEntry>[],
    ): Promise<readonly BulkOutcome[]> => {
      const by = { actor, now: now() };
      const { numbered, repeated } = withoutRepeats(entries);
      const places = await mapInParts(
        numbered,
        ({ id }) => permittedView.record(actor, id),
        () => schedule.next(actor.account),
      );
      const placedEntries = numbered.flatMap((entry, i) => {
        const zone = places[i]?.zone.id;
        return zone === undefined ? [] : [{ ...entry, zone }];
      });
      const strays = placedEntries.filter((entry) => entry.zone !== entry.zoneId);
      if (strays.length > 0) {
        const refusals: Outcomes = new Map(strays.map(({ place }) => [place, refused([zoneStays])]));
        return outcomesOf(entries, refusals, unprocessed);
      }
      const written = await mapInParts([...Map.groupBy(placedEntries, (entry) => entry.zone)], ([zone, mine]) =>
        store.run({ kind: "replace-records", ...by, parts: mine.length, zone, entries: mine }, replaceRecordsRule),
      );
      return outcomesOf(entries, new Map([...repeated, ...written.flat()]), missing("record"));
    },
  };
}

function withoutRepeats(entries: readonly OrFaults<ChangedEntry>[]) {
  const seen = new Set<string>();
  const repeated: Outcomes = new Map();
  const numbered: Numbered[] = [];
  for (const [place, entry] of entries.entries()) {
    if ("faults" in entry) continue;
    if (seen.has(entry.id)) repeated.set(place, refused([givenTwice]));
    else numbered.push({ place, ...entry });
    seen.add(entry.id);
  }
  return { numbered, repeated };
}

const givenTwice: Fault = { code: "given-twice", where: "id", message: "the record is in this request twice" };
