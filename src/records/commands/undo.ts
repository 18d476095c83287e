import type { Instant } from "../../core/instant.ts";
import { type Change, invertChange, sameSet } from "../../core/records/changes.ts";
import { keyOf, type RRset, setKey, type ZoneRecord } from "../../core/records/rrset.ts";
import { withSerial } from "../../core/records/serial.ts";
import type { Fault } from "../../core/result.ts";
import { inLongerSteps, mapInSteps, type Steps } from "../../core/steps.ts";
import type { LoggedChange, SettingsChange, Zone, ZoneKey, ZoneSettings } from "../model.ts";
import { newRecordIds } from "../new-id.ts";
import {
  type Actor,
  denied,
  type NotDone,
  type Permissions,
  permissionsAt,
  refused,
} from "../queries/permitted-view.ts";
import type { ActionDecision, ActionRule, WriteView } from "../store/port.ts";
import { checkingWrite, signedStaysPrimary, soaStays, zoneFaults } from "./edit/check-write.ts";
import type { Done, IdempotencyOption } from "./requests.ts";
import { authorOf, noChange } from "./write.ts";

/** Undoes one write with a new write. */
export type UndoChanges = IdempotencyOption & {
  readonly kind: "undo-changes";
  readonly actor: Actor;
  readonly at: ZoneKey;
  /** What the write changed, inverted, in the order in which it is to be done. */
  readonly changes: readonly Change[];
  /** How the write changed the settings. */
  readonly settings: SettingsChange | undefined;
  readonly parts: number;
  readonly now: Instant;
};

/** Changes per step. */
const perStep = 10;

/** Refused if what the write changed has changed again since. */
export function undoChangesRule(command: UndoChanges): ActionRule<Done | NotDone> {
  const { actor, at, changes, settings, now, idempotencyKey } = command;
  const permissions = permissionsAt(() => now);
  const newId = newRecordIds();
  function* deciding(view: WriteView): Steps<ActionDecision<Done | NotDone>> {
    const refusal = yield* findingRefusal(permissions, command, view.zone);
    if (refusal) return noChange(denied(refusal));
    const after = yield* undoingIn(view, yield* withFreeIds(view, changes, newId), settings);
    if ("kind" in after) return noChange(after);
    return { ...after, actionName: "undo_changes", result: { kind: "done" } };
  }
  const owners = () => changes.map((change) => change.owner);
  // `withFreeIds` needs the sets that hold these ids now. Those of replaced sets too: their current records may have
  // other ids.
  const records = changes.flatMap(({ after }) => after?.records.map((record) => record.id) ?? []);
  return {
    kind: "action",
    request: { ...authorOf(actor, now), at, owners, records, ...(idempotencyKey && { idempotencyKey }) },
    decide: (view) => inLongerSteps(deciding(view), perStep),
  };
}

type Undone = { readonly changes: readonly Change[]; readonly settings: SettingsChange | undefined };

/** What undoes the changes of a write, which are given newest first. */
export function* undoing(rows: readonly LoggedChange[]): Steps<Undone> {
  const changes: Change[] = [];
  let settings: SettingsChange | undefined;
  for (const { change } of rows) {
    if (change.kind === "settings") settings = change;
    else changes.push(invertChange(change));
    yield;
  }
  return { changes, settings };
}

function* findingRefusal(permissions: Permissions, { actor, changes, settings }: UndoChanges, { name: zone }: Zone) {
  for (const { owner, type } of changes) {
    const refusal = permissions.refusal(actor, { kind: "write-set", zone, owner, type });
    if (refusal !== undefined) return refusal;
    yield;
  }
  return settings && permissions.refusal(actor, { kind: "write-zone", zone });
}

/** A restored record gets its old id back, unless a record in an unaffected set has that id now. */
function* withFreeIds(
  { sets }: WriteView,
  changes: readonly Change[],
  newId: (i: number) => string,
): Steps<readonly Change[]> {
  const changing = new Set(changes.map(keyOf));
  const left = sets.filter(({ owner, type }) => !changing.has(setKey(owner, type)));
  const taken = new Set(left.flatMap((set) => set.records.map((record) => record.id)));
  let next = 0;
  const withFreeId = (record: ZoneRecord): ZoneRecord => {
    if (!taken.has(record.id)) return record;
    next += 1;
    return { ...record, id: newId(next) };
  };
  yield;
  return yield* mapInSteps(changes, (change): Change => {
    if (change.after === null) return change;
    return { ...change, after: { ...change.after, records: change.after.records.map(withFreeId) } };
  });
}

function* undoingIn(
  view: WriteView,
  changes: readonly Change[],
  undone: SettingsChange | undefined,
): Steps<{ readonly wanted: readonly RRset[]; readonly settings?: SettingsChange["before"] } | NotDone> {
  const { zone } = view;
  const current = new Map(view.sets.map((set) => [setKey(set.owner, set.type), set]));
  const sets = new Map(current);
  const faults: Fault[] = changes.length > 0 ? [...zoneFaults(zone)] : [];
  for (const change of changes) {
    const [before, after] = [atSerial(change.before, zone), atSerial(change.after, zone)];
    const key = setKey(change.owner, change.type);
    if (!sameOrNone(before, current.get(key))) faults.push(changedSince(`${change.owner} ${change.type}`));
    if (change.type === "SOA" && after === undefined) faults.push(zoneStays);
    if (after === undefined) sets.delete(key);
    else sets.set(key, after);
    yield;
  }
  const wanted = [...sets.values()];
  const settings = undone && undoneSettings(zone, undone, faults);
  const marksOnly = changes.every(({ before, after }) => before && after && onlyMarks(before, after));
  const all = faults.length > 0 || marksOnly ? faults : yield* checkingWrite(view, wanted);
  if (all.length > 0) return refused(all);
  return { wanted, ...(settings && { settings }) };
}

/**
 * Keys are never restored: what signs a zone changes only together with its parent. What was lost stays lost too, and
 * what a provider
 * holds is not undone.
 */
function undoneSettings(zone: Zone, { before, after }: SettingsChange, faults: Fault[]): ZoneSettings {
  const [old, made, current] = [before, after, zone.settings].map((each) => {
    const { dnssec: _, historySince: __, published: ___, ...plain } = each;
    return JSON.stringify(plain);
  });
  if (before.published?.provider !== after.published?.provider) faults.push(publicationStays);
  else if (old === made) faults.push(whyItStays(before, after));
  else if (made !== current) faults.push(changedSince("the settings of the zone"));
  const { dnssec: _, historySince: __, published: ___, ...plain } = before;
  const { dnssec, historySince, published } = zone.settings;
  if (dnssec !== undefined && plain.mode === "secondary") faults.push(signedStaysPrimary(zone.name));
  return {
    ...plain,
    ...(dnssec && { dnssec }),
    ...(historySince !== undefined && { historySince }),
    ...(published && { published }),
  };
}

function whyItStays(before: ZoneSettings, after: ZoneSettings): Fault {
  if (before.historySince !== after.historySince) return lossStays;
  return JSON.stringify(before.published) === JSON.stringify(after.published) ? signingStays : publicationStays;
}

const publicationStays: Fault = {
  code: "publication-stays",
  where: "serial",
  message: "this write changed how the zone is published at its provider, which cannot be undone from its history",
  todo: "publish the zone, or end that, as you want it now",
};

const lossStays: Fault = {
  code: "loss-stays",
  where: "serial",
  message: "this write only raised the serial because the database has lost changes; there is nothing to undo",
  todo: "make the lost changes again",
};

const signingStays: Fault = {
  code: "signing-stays",
  where: "serial",
  message: "this write changed how the zone is signed, which cannot be undone from its history",
  todo: "use the zone's DNSSEC settings, or moor dnssec",
};

const sameOrNone = (a: RRset | undefined, b: RRset | undefined): boolean =>
  a === undefined || b === undefined ? a === b : sameSet(a, b);

/** The SOA in a logged set has the serial of its time; this replaces it with the zone's current one. */
function atSerial(set: RRset | null, zone: Zone): RRset | undefined {
  if (set === null || set.type !== "SOA") return set ?? undefined;
  return {
    ...set,
    records: set.records.map((record) => {
      const rdata = withSerial(record.rdata, zone.serial);
      return { ...record, rdata, value: rdata };
    }),
  };
}

/** Labels and protection can be changed on a protected set. */
const onlyMarks = (before: RRset, after: RRset): boolean => {
  const { labels: _, locked: __, ...unmarked } = after;
  const { labels, locked } = before;
  return sameSet(before, { ...unmarked, ...(labels && { labels }), ...(locked && { locked }) });
};

const changedSince = (what: string): Fault => ({
  code: "changed-since",
  where: "serial",
  message: `${what} changed again after this write`,
  todo: "undo the later change first, or write the records you want",
});

const zoneStays: Fault = { ...soaStays, where: "serial", message: "this write created the zone" };
