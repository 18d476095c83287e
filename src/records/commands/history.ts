import { type Change, invertChange, sameSet } from "../../core/records/changes.ts";
import { type RRset, setKey, type ZoneRecord } from "../../core/records/rrset.ts";
import { withSerial } from "../../core/records/serial.ts";
import type { Fault } from "../../core/result.ts";
import { inLongerSteps, mapInSteps, type Steps } from "../../core/steps.ts";
import type { Turns } from "../../lib/limits/turns.ts";
import type { LoggedChange, SettingsChange, Zone, ZoneKey, ZoneSettings } from "../model.ts";
import { newRecordIds } from "../new-id.ts";
import type { RecordServiceOptions } from "../options.ts";
import { type Actor, denied, missing, type NotDone, refused, type Sight } from "../queries/sight.ts";
import type { ActDecision, DecideAct, WriteView } from "../store/port.ts";
import { checkingWrite, signedStaysPrimary, soaStays, zoneFaults } from "./edit/check-write.ts";
import type { Asked, Done, Written } from "./requests.ts";
import { noChange, writtenBefore, writtenBy, writtenIn } from "./write.ts";

/** How many changes one request examines for an actor who may see only some sets. */
const mostLookedAt = 2_000;
const historyPart = 200;
/** Changes of a write that are read in one turn, to undo it. */
const undoPart = 500;
/** Changes per step of an undo. */
const perStep = 10;

export function historyOperations(
  { store, now }: RecordServiceOptions,
  sight: Sight,
  turns: Pick<Turns, "next" | "run">,
) {
  const maySee = (actor: Actor, { zoneName: zone, change }: LoggedChange): boolean =>
    change.kind === "settings"
      ? sight.allows(actor, { kind: "read-zone", zone })
      : sight.allows(actor, { kind: "read-set", zone, owner: change.owner, type: change.type });

  /** Fills pages with visible changes only, so that the number of hidden changes is not revealed. */
  const seenBy = async (actor: Actor, zone: Zone, { before, limit }: HistoryPage) => {
    const seen: LoggedChange[] = [];
    let next = before;
    for (let looked = 0; looked < mostLookedAt; looked += historyPart) {
      const rows = await store.historyOf(zone, { limit: historyPart, ...(next !== undefined && { before: next }) });
      seen.push(...rows.filter((row) => maySee(actor, row)));
      if (seen.length > limit) break;
      if (rows.length < historyPart) return { rows: seen, next: undefined };
      next = rows.at(-1)?.position;
    }
    const rows = seen.slice(0, limit);
    return { rows, next: seen.length > limit ? rows.at(-1)?.position : next };
  };

  /** All changes of one write, newest first. */
  const changesOf = async (actor: Actor, zone: Zone, serial: number) => {
    const rows: LoggedChange[] = [];
    for (;;) {
      const part = await store.historyOf(zone, { serial, before: rows.at(-1)?.position, limit: undoPart });
      rows.push(...part);
      if (part.length < undoPart) return rows;
      await turns.next(actor.account);
    }
  };

  return {
    maySee,

    /**
     * The changes to a zone that the actor may see, newest first. `next`: where the next page starts. `rest`: how many changes of
     * the last write on this page are on the following pages; undefined for an actor who sees only some sets. Both are undefined
     * on the last page.
     */
    history: async (actor: Actor, key: ZoneKey, query: HistoryPage) => {
      const zone = await sight.openZone(actor, key);
      if (zone === undefined) return missing("zone");
      if (actor.scope.sets !== undefined)
        return { kind: "done" as const, zone, ...(await seenBy(actor, zone, query)), rest: undefined };
      const rows = await store.historyOf(zone, query);
      const last = rows.length < query.limit ? undefined : rows.at(-1);
      const rest = last && (await store.restOfWrite(zone, last));
      return { kind: "done" as const, zone, rows, next: last?.position, rest };
    },

    /** Undoes one write with a new write; refused if what it changed has changed again since. */
    undo: async (actor: Actor, key: ZoneKey, serial: number, asked: Asked = {}): Promise<Written> => {
      const zone = await sight.openZone(actor, key);
      const rows = zone ? await changesOf(actor, zone, serial) : [];
      if (zone === undefined || rows.length === 0) {
        const before = await writtenBefore(store, actor, key, asked, now());
        return zone && before.kind === "missing" ? missing("record") : before;
      }
      const seen = await turns.run(
        actor.account,
        mapInSteps(rows, (row) => maySee(actor, row)),
      );
      if (seen.includes(false)) return missing("record");
      const undone = await turns.run(actor.account, undoing(rows));
      const refusal = await turns.run(actor.account, findingRefusal(sight, actor, zone, undone));
      if (refusal) return denied(refusal);
      const newId = newRecordIds();
      function* deciding(view: WriteView): Steps<ActDecision<Done | NotDone>> {
        const after = yield* undoingIn(view, yield* withFreeIds(view, undone.changes, newId), undone.settings);
        if ("kind" in after) return noChange(after);
        return { ...after, command: "undo_changes", result: { kind: "done" } };
      }
      const decide: DecideAct<Done | NotDone> = (view) => inLongerSteps(deciding(view), perStep);
      const owners = () => undone.changes.map((change) => change.owner);
      // `withFreeIds` needs the sets that hold these ids now. Those of replaced sets too: their current records may have other ids.
      const records = undone.changes.flatMap(({ after }) => after?.records.map((record) => record.id) ?? []);
      const request = { ...writtenBy(actor, now()), at: key, owners, records, ...asked };
      return writtenIn<Done>(await store.act(request, decide));
    },
  };
}

type HistoryPage = { readonly before?: number; readonly limit: number };

type Undoing = { readonly changes: readonly Change[]; readonly settings: SettingsChange | undefined };

/** The newest change is undone first. */
function* undoing(rows: readonly LoggedChange[]): Steps<Undoing> {
  const changes: Change[] = [];
  let settings: SettingsChange | undefined;
  for (const { change } of rows) {
    if (change.kind === "settings") settings = change;
    else changes.push(invertChange(change));
    yield;
  }
  return { changes, settings };
}

function* findingRefusal(sight: Sight, actor: Actor, { name: zone }: Zone, { changes, settings }: Undoing) {
  for (const { owner, type } of changes) {
    const refusal = sight.refusal(actor, { kind: "write-set", zone, owner, type });
    if (refusal !== undefined) return refusal;
    yield;
  }
  return settings && sight.refusal(actor, { kind: "write-zone", zone });
}

/** A restored record gets its old id back, unless a record in an unaffected set has that id now. */
function* withFreeIds(
  { sets }: WriteView,
  changes: readonly Change[],
  newId: (i: number) => string,
): Steps<readonly Change[]> {
  const changing = new Set(changes.map(({ owner, type }) => setKey(owner, type)));
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
    if (!sameOrNone(before, current.get(key))) faults.push(changedSince(`${change.owner}/${change.type}`));
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

/** Keys are never restored: what signs a zone changes only together with its parent. What was lost stays lost too. */
function undoneSettings(zone: Zone, { before, after }: SettingsChange, faults: Fault[]): ZoneSettings {
  const [old, made, current] = [before, after, zone.settings].map((each) => {
    const { dnssec: _, historySince: __, ...plain } = each;
    return JSON.stringify(plain);
  });
  if (old === made) faults.push(before.historySince === after.historySince ? signingStays : lossStays);
  else if (made !== current) faults.push(changedSince("the settings of the zone"));
  const { dnssec: _, historySince: __, ...plain } = before;
  const { dnssec, historySince } = zone.settings;
  if (dnssec !== undefined && plain.mode === "secondary") faults.push(signedStaysPrimary(zone.name));
  return { ...plain, ...(dnssec && { dnssec }), ...(historySince !== undefined && { historySince }) };
}

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
