import type { Instant } from "../../core/instant.ts";
import type { Steps } from "../../core/steps.ts";
import { type Actor, missing, permissionsAt, refused } from "../queries/permitted-view.ts";
import type { Decision, WriteAllRule, WriteRequest, WriteView } from "../store/port.ts";
import { editingMany } from "./edit/many.ts";
import { ownersOf, type RecordPermissions, recordPermissions } from "./edit-record.ts";
import type { BulkOutcome, DraftInZone, OrFaults } from "./requests.ts";
import { authorOf } from "./write.ts";

export type NewEntry = DraftInZone;
export type ChangedEntry = DraftInZone & { readonly id: string };

type By = { readonly actor: Actor; readonly now: Instant; readonly parts: number };

export type CreateRecords = By & {
  readonly kind: "create-records";
  readonly entries: readonly OrFaults<NewEntry>[];
  /** One per entry. */
  readonly ids: readonly string[];
};

export type ReplaceRecords = By & {
  readonly kind: "replace-records";
  readonly zone: string;
  readonly entries: readonly Numbered[];
};

export function createRecordsRule(command: CreateRecords): WriteAllRule<readonly BulkOutcome[]> {
  const { actor, entries, ids, now } = command;
  const permitted = recordPermissions(permissionsAt(() => now));
  const numbered = entries.flatMap((entry, place) =>
    "faults" in entry ? [] : [{ place, id: ids[place] ?? "", ...entry }],
  );
  const zones = [...Map.groupBy(numbered, (entry) => entry.zoneId)];
  return {
    kind: "write-all",
    requests: zones.map(([zone, mine]) => requestFor(command, zone, mine)),
    *decide(views) {
      const outcomeByPlace: Outcomes = new Map();
      const decisions: Decision[] = [];
      for (const [i, [, mine]] of zones.entries()) {
        const view = views[i];
        const rule: Rule = ({ draft }) => (view ? permitted.newContent(actor, view.zone, draft) : missing("zone"));
        decisions.push(view ? yield* deciding(view, mine, outcomeByPlace, now, rule) : nothing);
      }
      yield;
      const outcomes = outcomesOf(entries, outcomeByPlace, missing("zone"));
      if (outcomes.every((outcome) => outcome.kind === "done")) return { decisions, result: outcomes };
      const result = outcomes.map((each) => (each.kind === "done" ? unprocessed : each));
      return { decisions: decisions.map(() => nothing), result };
    },
  };
}

/** The outcomes by the index of their entry. */
export function replaceRecordsRule(command: ReplaceRecords): WriteAllRule<readonly (readonly [number, BulkOutcome])[]> {
  const { actor, zone, entries, now } = command;
  const permitted = recordPermissions(permissionsAt(() => now));
  const records = entries.map((entry) => entry.id);
  return {
    kind: "write-all",
    requests: [{ ...requestFor(command, zone, entries), records }],
    *decide([view]) {
      const outcomes: Outcomes = new Map();
      if (view === undefined) return { decisions: [], result: [] };
      const setsById = new Map(view.sets.flatMap((set) => set.records.map((record) => [record.id, set])));
      const rule: Rule = (entry) => permitted.nextContent(actor, view.zone, setsById.get(entry.id), entry);
      const decision = yield* decidingSome(view, entries, outcomes, now, rule);
      return { decisions: [decision], result: [...outcomes] };
    },
  };
}

const requestFor = (
  { actor, now }: Pick<By, "actor" | "now">,
  zone: string,
  entries: readonly Numbered[],
): WriteRequest => ({
  ...authorOf(actor, now),
  at: { zone },
  owners: ownersOf(entries.map((entry) => entry.draft)),
});

export type Numbered = ChangedEntry & { readonly place: number };
type Rule = (entry: Numbered) => ReturnType<RecordPermissions["newContent"]>;

const nothing: Decision = { wanted: undefined };
export const unprocessed: BulkOutcome = { kind: "unprocessed" };

/** Outcomes by the index of their entry. */
export type Outcomes = Map<number, BulkOutcome>;

export const outcomesOf = (
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
    const recordInZone = edited.kind === "done" ? edited.records[i] : undefined;
    const faults = edited.kind === "refused" ? edited.faults.get(i) : undefined;
    outcomes.set(place, recordInZone ? { kind: "done", recordInZone } : faults ? refused(faults) : unprocessed);
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
