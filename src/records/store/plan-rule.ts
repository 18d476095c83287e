import type { Instant } from "../../core/instant.ts";
import { type Change, diffingSets, diffSets } from "../../core/records/changes.ts";
import type { RRset } from "../../core/records/rrset.ts";
import { afterSteps, inSteps, type Steps } from "../../core/steps.ts";
import type { NewZone, Zone, ZoneKey } from "../model.ts";
import type { Signer } from "../signing/signer.ts";
import type {
  ActionResult,
  ActionRule,
  Decision,
  IdempotencyKey,
  NotCreated,
  Rule,
  RunningAction,
  WriteAllRule,
  WriteRequest,
  WriteRule,
  WriteView,
} from "./port.ts";
import type { RecordQuota } from "./record-limits.ts";
import { type AsideNeeded, type AsidesByZone, asideNeeded, concernsSigning, unsignedEffect } from "./signed-effect.ts";
import { effectWith, firstEffect, type WriteEffect, type WrittenBy, zoneTried } from "./write-effect.ts";

/** What a write asks for: a zone, or the zone of a record, and some of its sets. */
export type Need = Pick<WriteRequest, "account" | "owners" | "records"> & { readonly at: WriteRequest["at"] | ZoneKey };

export type ActionBy = WrittenBy & { readonly idempotencyKey?: IdempotencyKey; readonly running?: RunningAction };

/** A store at one moment, as rules see it: what they ask for is loaded. */
export type StoreSnapshot = {
  /** Undefined if the account has no such zone. In steps if it is the whole zone or many owners. */
  readonly view: (need: Need) => WriteView | Steps<WriteView | undefined> | undefined;
  readonly earlierAnswer: <T>(by: ActionBy) => ActionResult<T> | "key-taken" | undefined;
  readonly obstacleTo: (zone: NewZone) => NotCreated | undefined;
  /** How many zones the account has; undefined if that is not limited. */
  readonly zoneCount: (account: number) => number | undefined;
  /** Throws if what this changes in a signed zone cannot be signed. */
  readonly expectSignable: (effect: WriteEffect, signer: Signer | undefined, now: Instant) => void;
};

/** Inside a transaction. */
export type StoreTransaction = StoreSnapshot & {
  /** Stores the action, if there is one, and the answer under its key. */
  readonly keep: <T>(
    zone: Zone,
    actionName: string | undefined,
    by: ActionBy,
    result: T,
    isChanged: boolean,
  ) => ActionResult<T>;
};

/** What a write does to one zone. */
export type ZoneWrite = Pick<WriteEffect, "changes" | "log"> &
  (
    | {
        readonly kind: "change" | "remove";
        readonly before: Zone;
        readonly sets: readonly RRset[];
        readonly effect: WriteEffect;
      }
    | { readonly kind: "create"; readonly zone: NewZone; readonly by: WrittenBy }
  );

export type Plan<T> = {
  readonly writes: readonly ZoneWrite[];
  /** Names that have to be signed before this write; then it is planned again with them. */
  readonly needs?: AsideNeeded | undefined;
  /** Whether everything else that the plan depends on is still as it was, besides the zones. */
  readonly isCurrent?: (store: StoreSnapshot) => boolean;
  /** Called after the writes, in the same transaction, with the zones as they are then. */
  readonly finish: (store: StoreTransaction, after: readonly Zone[]) => T;
};

export type PlanOptions = {
  /** Without a signer, zones cannot be signed. */
  readonly signer: Signer | undefined;
  /** Absent: no limits. */
  readonly recordQuota?: RecordQuota | undefined;
  /** All names of a large zone are signed with its changes, because there is only one connection. */
  readonly inOnePiece?: boolean | undefined;
  /** As in `Command`. */
  readonly isTrial?: boolean | undefined;
  /** Names that were signed for this write. */
  readonly asides?: AsidesByZone | undefined;
};

type MaybeSteps<T> = T | Steps<T>;

/** A change of so few sets is planned in one piece. */
const fewSets = 50;

/** What a rule does, in both stores; in steps only if it is much. Writes nothing. */
export function planRule(
  store: StoreSnapshot,
  rule: Rule,
  options: PlanOptions,
  running?: RunningAction,
): MaybeSteps<Plan<unknown>> {
  switch (rule.kind) {
    case "write":
      return planWrite(store, rule, options);
    case "write-all":
      return planningAll(store, rule, options);
    case "action":
      return planAction(store, rule, options, running);
    case "create": {
      const { zone, actor } = rule;
      return planningCreate(store, zone, { actor, now: zone.created }, options, (_, created) => created);
    }
    case "create-action": {
      const { zone, action } = rule;
      const before = store.earlierAnswer<Zone>(action);
      if (before !== undefined) return done(before);
      return planningCreate(store, zone, action, options, (kept, created) =>
        kept.keep(created, action.actionName, action, created, false),
      );
    }
    default:
      return rule satisfies never;
  }
}

const done = <T>(result: T): Plan<T> => ({ writes: [], finish: () => result });

const planWrite = <T>(
  store: StoreSnapshot,
  { request, decide }: WriteRule<T>,
  options: PlanOptions,
): MaybeSteps<Plan<T | undefined>> =>
  afterSteps(store.view(request), (view) => {
    if (view === undefined) return done(undefined);
    const decision = decide(view);
    return afterSteps(planChange(store, request, view, decision, options), (change) => ({
      ...change,
      finish: () => decision.result,
    }));
  });

function* planningAll<T>(
  store: StoreSnapshot,
  { requests, decide }: WriteAllRule<T>,
  options: PlanOptions,
): Steps<Plan<T>> {
  const views: (WriteView | undefined)[] = [];
  for (const request of requests) views.push(yield* inSteps(store.view(request)));
  const { decisions, result } = yield* inSteps(decide(views));
  const changes: PlannedChange[] = [];
  for (const [i, request] of requests.entries()) {
    const [view, decision] = [views[i], decisions[i]];
    if (view === undefined || decision === undefined) continue;
    changes.push(yield* inSteps(planChange(store, request, view, decision, options)));
  }
  return {
    writes: changes.flatMap(({ writes }) => writes),
    needs: changes.find(({ needs }) => needs)?.needs,
    finish: () => result,
  };
}

function planAction<T>(
  store: StoreSnapshot,
  { request, decide }: ActionRule<T>,
  options: PlanOptions,
  running: RunningAction | undefined,
): MaybeSteps<Plan<ActionResult<T> | "no-zone" | "key-taken">> {
  const before = store.earlierAnswer<T>(request);
  if (before !== undefined) return done(before);
  return afterSteps(store.view(request), (view) => {
    if (view === undefined) return done("no-zone");
    return afterSteps(decide(view), ({ actionName, remember, remove, result, ...decision }) => {
      if (options.isTrial) return trialOf(store, request, view, decision, { result, options });
      const planned = remove ? planRemoval(view, request) : planChange(store, request, view, decision, options);
      return afterSteps(planned, (change) => ({
        ...change,
        isCurrent: (now) => now.earlierAnswer(request) === undefined,
        finish: (kept, [after = view.zone]) =>
          actionName === undefined && !remember
            ? { result, action: undefined, serial: after.serial }
            : kept.keep(
                after,
                actionName,
                running ? { ...request, running } : request,
                result,
                !remove && change.writes.length > 0,
              ),
      }));
    });
  });
}

const trialOf = <T>(
  store: StoreSnapshot,
  by: WrittenBy,
  view: WriteView,
  decision: Decision,
  { result, options }: { readonly result: T; readonly options: PlanOptions },
): MaybeSteps<Plan<ActionResult<T>>> =>
  afterSteps(planChange(store, by, view, decision, options), () =>
    done({ result, action: undefined, serial: view.zone.serial }),
  );

type PlannedChange = Pick<Plan<unknown>, "writes" | "needs">;

/** What changes a signed zone is signed afterwards; what is to be signed before that is returned as `needs`. */
const planChange = (
  store: StoreSnapshot,
  by: WrittenBy,
  { zone, sets }: WriteView,
  { wanted, keys, ...decision }: Decision,
  options: PlanOptions,
): MaybeSteps<PlannedChange> =>
  afterSteps(differencesOf(sets, wanted), (changes) => {
    const { recordQuota, isTrial, signer, inOnePiece, asides } = options;
    const changed = effectWith(zone, changes, decision, by);
    if (changed === undefined) return { writes: [] };
    recordQuota?.assertWithin(changed.zone, zone.recordCount);
    if (isTrial || !concernsSigning(zone, changed.zone)) return { writes: [writeOf("change", zone, sets, changed)] };
    const effect = keys ? { ...changed, keys } : changed;
    store.expectSignable(effect, signer, by.now);
    const unsigned = unsignedEffect(effect, by, decision.renew, asides?.get(zone.number));
    return {
      writes: [writeOf("change", zone, sets, unsigned)],
      needs: inOnePiece ? undefined : asideNeeded(zone, effect, by, decision.renew, asides),
    };
  });

const planRemoval = ({ zone, sets }: WriteView, by: WrittenBy): MaybeSteps<PlannedChange> =>
  afterSteps(differencesOf(sets, []), (changes) => {
    const nothing = { zone, changes, newSettings: false, log: [] };
    return { writes: [writeOf("remove", zone, sets, effectWith(zone, changes, {}, by) ?? nothing)] };
  });

const writeOf = (kind: "change" | "remove", before: Zone, sets: readonly RRset[], effect: WriteEffect): ZoneWrite => ({
  kind,
  before,
  sets,
  effect,
  changes: effect.changes,
  log: effect.log,
});

function differencesOf(sets: readonly RRset[], wanted: readonly RRset[] | undefined): MaybeSteps<readonly Change[]> {
  if (wanted === undefined) return [];
  return sets.length > fewSets || wanted.length > fewSets ? diffingSets(sets, wanted) : diffSets(sets, wanted);
}

/** Whether the name may become a zone is decided in the transaction. `keep` returns the result. */
function planningCreate<T>(
  store: StoreSnapshot,
  zone: NewZone,
  by: WrittenBy,
  { recordQuota, isTrial }: PlanOptions,
  keep: (store: StoreTransaction, created: Zone) => T,
): MaybeSteps<Plan<T | NotCreated>> {
  const obstacle = store.obstacleTo(zone);
  if (obstacle !== undefined) return done(obstacle);
  const recordCount = zone.sets.reduce((sum, { records }) => sum + records.length, 0);
  recordQuota?.assertWithin({ ...zone, recordCount }, 0);
  const count = store.zoneCount(zone.account);
  if (count !== undefined) recordQuota?.assertMayCreate(count);
  const tried = zoneTried(zone, recordCount);
  if (isTrial) return { writes: [], finish: (kept) => keep(kept, tried) };
  return afterSteps(differencesOf([], zone.sets), (changes) => ({
    writes: [{ kind: "create", zone, by, changes, log: firstEffect(tried, changes, by).log }],
    isCurrent: (now) => now.obstacleTo(zone) === undefined,
    finish: (kept, [created = tried]) => keep(kept, created),
  }));
}
