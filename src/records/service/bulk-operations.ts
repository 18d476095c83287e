import type { Instant } from "../../core/instant.ts";
import type { Fault } from "../../core/result.ts";
import type { Steps } from "../../core/steps.ts";
import type { Turns } from "../../process/turns.ts";
import type { PlacedRecord } from "../model.ts";
import type { Decision, WriteView } from "../store/port.ts";
import { inParts } from "./edit/in-parts.ts";
import { editingMany } from "./edit/many.ts";
import { newRecordId } from "./edit/new-id.ts";
import type { RecordServiceOptions } from "./options.ts";
import { ownersOf, type PlacedDraft, type RecordRules, zoneStays } from "./record-rules.ts";
import { type Actor, missing, type NotDone, refused, type Sight } from "./sight.ts";
import { writtenBy } from "./write.ts";

/** An entry that was refused earlier is replaced by its faults. */
export type OrFaults<T> = T | { readonly faults: readonly Fault[] };
export type NewEntry = PlacedDraft;
export type ChangedEntry = PlacedDraft & { readonly id: string };

/** The outcome of one entry; `unprocessed` if it is valid but another one is not. */
export type BulkOutcome =
  | { readonly kind: "done"; readonly placed: PlacedRecord }
  | { readonly kind: "unprocessed" }
  | NotDone;

/** Many records, in one write per zone. Outcomes are in the order of the entries. */
export function bulkOperations(
  { store, now }: RecordServiceOptions,
  sight: Sight,
  rules: RecordRules,
  turns: Pick<Turns, "next">,
) {
  const request = (actor: Actor, zone: string, entries: readonly Numbered[], at: Instant) => ({
    ...writtenBy(actor, at),
    at: { zone },
    owners: ownersOf(entries.map((entry) => entry.draft)),
  });

  return {
    /** All or none, in one transaction. */
    createRecords: async (actor: Actor, entries: readonly OrFaults<NewEntry>[]): Promise<readonly BulkOutcome[]> => {
      const at = now();
      const numbered = entries.flatMap((entry, place) =>
        "faults" in entry ? [] : [{ place, id: newRecordId(), ...entry }],
      );
      const zones = [...Map.groupBy(numbered, (entry) => entry.zoneId)];
      const requests = zones.map(([zone, mine]) => request(actor, zone, mine, at));
      await actor.expectAccess?.();
      return await store.writeAll<readonly BulkOutcome[]>(requests, function* (views) {
        const found: Outcomes = new Map();
        const decisions: Decision[] = [];
        for (const [i, [, mine]] of zones.entries()) {
          const view = views[i];
          const rule: Rule = ({ draft }) => (view ? rules.newContent(actor, view.zone, draft) : missing("zone"));
          decisions.push(view ? yield* deciding(view, mine, found, at, rule) : nothing);
        }
        yield;
        const outcomes = outcomesOf(entries, found, missing("zone"));
        if (outcomes.every((outcome) => outcome.kind === "done")) return { decisions, result: outcomes };
        const result = outcomes.map((each) => (each.kind === "done" ? unprocessed : each));
        return { decisions: decisions.map(() => nothing), result };
      });
    },

    /** Replaces the valid ones, one transaction per zone; none if an entry names a zone that its record is not in. */
    replaceRecords: async (
      actor: Actor,
      entries: readonly OrFaults<ChangedEntry>[],
    ): Promise<readonly BulkOutcome[]> => {
      const at = now();
      const { numbered, repeated } = withoutRepeats(entries);
      const places = await inParts(
        numbered,
        ({ id }) => sight.record(actor, id),
        () => turns.next(actor.account),
      );
      const found = numbered.flatMap((entry, i) => {
        const zone = places[i]?.zone.id;
        return zone === undefined ? [] : [{ ...entry, zone }];
      });
      const strays = found.filter((entry) => entry.zone !== entry.zoneId);
      if (strays.length > 0) {
        const refusals: Outcomes = new Map(strays.map(({ place }) => [place, refused([zoneStays])]));
        return outcomesOf(entries, refusals, unprocessed);
      }
      await actor.expectAccess?.();
      const written = await inParts([...Map.groupBy(found, (entry) => entry.zone)], ([zone, mine]) => {
        const records = mine.map((entry) => entry.id);
        return store.writeAll<Outcomes>([{ ...request(actor, zone, mine, at), records }], function* ([view]) {
          const result: Outcomes = new Map();
          if (view === undefined) return { decisions: [], result };
          const setsById = new Map(view.sets.flatMap((set) => set.records.map((record) => [record.id, set])));
          const rule: Rule = (entry) => rules.nextContent(actor, view.zone, setsById.get(entry.id), entry);
          return { decisions: [yield* decidingSome(view, mine, result, at, rule)], result };
        });
      });
      const outcomes = written.flatMap((each) => [...each]);
      return outcomesOf(entries, new Map([...repeated, ...outcomes]), missing("record"));
    },
  };
}

type Numbered = ChangedEntry & { readonly place: number };
type Rule = (entry: Numbered) => ReturnType<RecordRules["newContent"]>;

const nothing: Decision = { wanted: undefined };
const unprocessed: BulkOutcome = { kind: "unprocessed" };

/** Outcomes by the index of their entry. */
type Outcomes = Map<number, BulkOutcome>;

const outcomesOf = (
  entries: readonly OrFaults<NewEntry | ChangedEntry>[],
  outcomes: Outcomes,
  otherwise: BulkOutcome,
): readonly BulkOutcome[] =>
  entries.map((entry, i) => ("faults" in entry ? refused(entry.faults) : (outcomes.get(i) ?? otherwise)));

/** Adds the outcomes of these entries; `left` are those that passed the rules and were tried. */
function* deciding(
  view: WriteView,
  entries: readonly Numbered[],
  outcomes: Outcomes,
  now: number,
  rule: Rule,
): Steps<Decision & { readonly left: readonly Numbered[] }> {
  const edits = [];
  const left = [];
  for (const entry of entries) {
    yield;
    const read = rule(entry);
    if (read.kind !== "content") {
      outcomes.set(entry.place, read);
      continue;
    }
    edits.push({ id: entry.id, content: read.content });
    left.push(entry);
  }
  const edited = yield* editingMany(view, edits, now);
  for (const [i, { place }] of left.entries()) {
    const placed = edited.kind === "done" ? edited.placed[i] : undefined;
    const faults = edited.kind === "refused" ? edited.faults.get(i) : undefined;
    outcomes.set(place, placed ? { kind: "done", placed } : faults ? refused(faults) : unprocessed);
  }
  return { wanted: edited.kind === "done" ? edited.wanted : undefined, left };
}

/** Refused entries are dropped and the rest is tried again, up to this many times. */
const maximumRounds = 8;

function* decidingSome(
  view: WriteView,
  entries: readonly Numbered[],
  outcomes: Outcomes,
  now: number,
  rule: Rule,
): Steps<Decision> {
  let left = entries;
  for (let round = 0; round < maximumRounds && left.length > 0; round += 1) {
    const decision = yield* deciding(view, left, outcomes, now, rule);
    if (decision.wanted !== undefined) return decision;
    left = decision.left.filter(({ place }) => outcomes.get(place)?.kind === "unprocessed");
  }
  return nothing;
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
