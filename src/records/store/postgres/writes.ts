import { inSteps, type Steps } from "../../../core/steps.ts";
import type { NewZone, Zone } from "../../model.ts";
import type {
  ActionResult,
  ActionRule,
  ActorKey,
  Command,
  NewAction,
  NotCreated,
  RecordStore,
  ResultOf,
  Rule,
  RunningAction,
  WriteAllRule,
  WriteRule,
  WriteView,
} from "../port.ts";
import type { RecordQuota } from "../record-limits.ts";
import { type AsideNeeded, type AsidesByZone, isAsideNeeded } from "../signed/sign-aside.ts";
import { type Wanted, type WrittenBy, zoneTried } from "../write-effect.ts";
import type { PostgresBatch } from "./batch.ts";
import type { Write } from "./queue.ts";

type By = Pick<NewAction, "actor" | "now" | "idempotencyKey">;
type Kept = By & {
  readonly actionName: string | undefined;
  readonly running?: RunningAction | undefined;
  /** Whether the write has changed the zone. */
  readonly isChanged: boolean;
};

type RunOptions = {
  readonly add: <T>(write: Write<T>) => Promise<T>;
  /** Absent: no limits. */
  readonly recordQuota?: RecordQuota | undefined;
  /** As in `WriteView`. */
  readonly mostValues?: number | undefined;
  /** As in `Command`. */
  readonly isTrial?: boolean | undefined;
  /** Signs the names of a large zone before a write. */
  readonly signFirst: (needed: AsideNeeded, attempt: AsideAttempt) => Promise<unknown>;
  readonly asides?: AsidesByZone | undefined;
};

export type AsideAttempt = (asides: AsidesByZone) => Promise<unknown>;

/** A command with more sets, records or lines than this is done alone. */
const mostParts = 2_000;

/** Every rule, as what it needs to see and what it does. */
export function createRun(options: RunOptions): RecordStore["run"] {
  return async <C extends Command, R extends Rule>(command: C, rule: (command: C) => R, running?: RunningAction) => {
    const attempt = (asides?: AsidesByZone) => {
      const { run, ...needs } = writeOf(rule(command), { ...options, isTrial: command.isTrial, asides }, running);
      return options.add({
        ...needs,
        ...(command.actor && { by: command.actor }),
        isLarge: (command.parts ?? 0) > mostParts,
        *run(batch) {
          batch.expectAccess(command.actor);
          return yield* run(batch);
        },
      });
    };
    const outcome = await attempt();
    return (isAsideNeeded(outcome) ? await options.signFirst(outcome, attempt) : outcome) as ResultOf<R>;
  };
}

function writeOf(rule: Rule, options: RunOptions, running: RunningAction | undefined): Write<unknown> {
  switch (rule.kind) {
    case "write":
      return { needs: [rule.request], addsAction: false, run: (batch) => runOne(batch, rule, options) };
    case "write-all":
      return { needs: rule.requests, addsAction: false, run: (batch) => runAll(batch, rule, options) };
    case "action":
      return {
        needs: [rule.request],
        addsAction: true,
        ...idempotencyKeyOf(rule.request),
        run: (batch) => runAction(batch, rule, options, running),
      };
    case "create": {
      const { zone, actor } = rule;
      return { needs: [], creates: zone, addsAction: false, run: (batch) => create(batch, zone, actor, options) };
    }
    case "create-action": {
      const { zone, action } = rule;
      return {
        needs: [],
        creates: zone,
        addsAction: true,
        ...idempotencyKeyOf(action),
        *run(batch) {
          const earlierAnswer = earlierAction<Zone>(batch, action);
          if (earlierAnswer !== undefined) return earlierAnswer;
          const made = yield* create(batch, zone, action.actor, options);
          return typeof made === "string" ? made : keepAction(batch, made, { ...action, isChanged: false }, made);
        },
      };
    }
    default:
      return rule satisfies never;
  }
}

function* runOne<T>(
  batch: PostgresBatch,
  { request, decide }: WriteRule<T>,
  options: RunOptions,
): Steps<T | AsideNeeded | undefined> {
  const view = yield* viewIn(batch, request, options);
  if (view === undefined) return undefined;
  const { wanted, result, ...decision } = decide(view);
  const { needs, apply } = yield* replace(batch, view, { ...decision, sets: wanted }, request, options);
  if (needs) return needs;
  yield* apply();
  return result;
}

function* runAll<T>(
  batch: PostgresBatch,
  { requests, decide }: WriteAllRule<T>,
  options: RunOptions,
): Steps<T | AsideNeeded> {
  const views = [];
  for (const request of requests) views.push(yield* viewIn(batch, request, options));
  const { decisions, result } = yield* inSteps(decide(views));
  const planned = [];
  for (const [i, request] of requests.entries()) {
    const [view, decision] = [views[i], decisions[i]];
    if (view === undefined || decision === undefined) continue;
    const { wanted, ...rest } = decision;
    planned.push(yield* replace(batch, view, { ...rest, sets: wanted }, request, options));
  }
  const needs = planned.find((each) => each.needs)?.needs;
  if (needs) return needs;
  for (const each of planned) yield* each.apply();
  return result;
}

function* runAction<T>(
  batch: PostgresBatch,
  { request, decide }: ActionRule<T>,
  options: RunOptions,
  running: RunningAction | undefined,
): Steps<ActionResult<T> | AsideNeeded | "no-zone" | "key-taken"> {
  const earlierAnswer = earlierAction<T>(batch, request);
  if (earlierAnswer !== undefined) return earlierAnswer;
  const view = yield* viewIn(batch, request, options);
  if (view === undefined) return "no-zone";
  const { actionName, remember, remove, result, wanted, ...decision } = yield* inSteps(decide(view));
  const planned = remove ? undefined : yield* replace(batch, view, { ...decision, sets: wanted }, request, options);
  if (options.isTrial) return { result, action: undefined, serial: view.zone.serial };
  if (planned?.needs) return planned.needs;
  if (planned) yield* planned.apply();
  const after = planned?.zone ?? batch.remove(view, request);
  return actionName === undefined && !remember
    ? { result, action: undefined, serial: after.serial }
    : keepAction(
        batch,
        after,
        { ...request, actionName: actionName, running, isChanged: planned !== undefined && after !== view.zone },
        result,
      );
}

function* viewIn(
  batch: PostgresBatch,
  request: Parameters<PostgresBatch["view"]>[0],
  { mostValues }: RunOptions,
): Steps<WriteView | undefined> {
  const view = yield* batch.view(request);
  return view && { ...view, mostValues };
}

/** Plans a write; throws if it adds too many records. */
function* replace(batch: PostgresBatch, view: WriteView, wanted: Wanted, by: WrittenBy, options: RunOptions) {
  const { recordQuota } = options;
  const planned = yield* batch.replace(view, wanted, by, options);
  recordQuota?.assertWithin(planned.zone, view.zone.recordCount);
  return planned;
}

function* create(
  batch: PostgresBatch,
  zone: NewZone,
  actor: string,
  { recordQuota, isTrial }: RunOptions,
): Steps<Zone | NotCreated> {
  const recordCount = zone.sets.reduce((sum, { records }) => sum + records.length, 0);
  recordQuota?.assertWithin({ ...zone, recordCount }, 0);
  const count = batch.zoneCounts.get(zone.account);
  if (count !== undefined) recordQuota?.assertMayCreate(count);
  if (isTrial) return batch.obstacleTo(zone) ?? zoneTried(zone, recordCount);
  const made = yield* batch.create(zone, actor);
  if (count !== undefined && typeof made !== "string") batch.zoneCounts.set(zone.account, count + 1);
  return made;
}

const idempotencyKeyOf = ({ actor, idempotencyKey }: By): { readonly idempotencyKey?: ActorKey } =>
  idempotencyKey === undefined ? {} : { idempotencyKey: { ...idempotencyKey, actor } };

/** The earlier answer to the same request. */
function earlierAction<T>(
  batch: PostgresBatch,
  { actor, now, idempotencyKey }: By,
): ActionResult<T> | "key-taken" | undefined {
  const kept = idempotencyKey && batch.kept(actor, idempotencyKey, now);
  if (kept === undefined) return undefined;
  return kept.fingerprint === idempotencyKey?.fingerprint ? (JSON.parse(kept.outcome) as ActionResult<T>) : "key-taken";
}

/** Stores the action, if there is one, and the answer under its key. */
function keepAction<T>(
  batch: PostgresBatch,
  zone: Zone,
  { actor, now, idempotencyKey, actionName, running, isChanged }: Kept,
  result: T,
): ActionResult<T> {
  const action =
    actionName === undefined ? undefined : batch.addAction(zone, actionName, { actor, now, isChanged }, running?.id);
  const actionResult = { result, action, serial: zone.serial };
  if (idempotencyKey !== undefined)
    batch.keep({ actor, ...idempotencyKey, at: now, outcome: JSON.stringify(actionResult) });
  return actionResult;
}
