import { inSteps, type Steps } from "../../../core/steps.ts";
import type { Zone } from "../../model.ts";
import { type ActionBy, type Plan, type PlanOptions, planRule } from "../plan-rule.ts";
import type { ActorKey, Command, RecordStore, ResultOf, Rule, RunningAction } from "../port.ts";
import { type AsideNeeded, type AsidesByZone, isAsideNeeded } from "../signed-effect.ts";
import type { PostgresBatch } from "./batch.ts";
import type { WriteNeeds } from "./batch-read.ts";
import type { Write } from "./queue.ts";

type RunOptions = Pick<PlanOptions, "signer" | "recordQuota"> & {
  readonly add: <T>(write: Write<T>) => Promise<T>;
  /** Signs the names of a large zone before a write. */
  readonly signFirst: (needed: AsideNeeded, attempt: AsideAttempt) => Promise<unknown>;
};

export type AsideAttempt = (asides: AsidesByZone) => Promise<unknown>;

/** A command with more sets, records or lines than this is done alone. */
const mostParts = 2_000;

/** Every rule, as what it needs to see and what it does. */
export function createRun({ add, signFirst, ...options }: RunOptions): RecordStore["run"] {
  return async <C extends Command, R extends Rule>(
    command: C,
    ruleOf: (command: C) => R,
    action?: RunningAction,
  ): Promise<ResultOf<R>> => {
    const { actor, isTrial, parts = 0 } = command;
    const rule = ruleOf(command);
    const attempt = (asides?: AsidesByZone) =>
      add({
        ...needsOf(rule),
        ...(actor && { by: actor }),
        isLarge: parts > mostParts,
        run: (batch) => {
          batch.expectAccess(actor);
          return running(batch, planRule(batch, rule, { ...options, isTrial, asides }, action));
        },
      });
    const outcome = await attempt();
    return (isAsideNeeded(outcome) ? await signFirst(outcome, attempt) : outcome) as ResultOf<R>;
  };
}

/** What a rule needs to see. */
function needsOf(rule: Rule): WriteNeeds {
  switch (rule.kind) {
    case "write":
      return { needs: [rule.request], addsAction: false };
    case "write-all":
      return { needs: rule.requests, addsAction: false };
    case "action":
      return { needs: [rule.request], addsAction: true, ...idempotencyKeyOf(rule.request) };
    case "create":
      return { needs: [], creates: rule.zone, addsAction: false };
    case "create-action":
      return { needs: [], creates: rule.zone, addsAction: true, ...idempotencyKeyOf(rule.action) };
    default:
      return rule satisfies never;
  }
}

/** What it does; names that have to be signed before, if there are any. */
function* running(batch: PostgresBatch, planned: Plan<unknown> | Steps<Plan<unknown>>): Steps<unknown> {
  const { needs, writes, finish } = yield* inSteps(planned);
  if (needs) return needs;
  const after: Zone[] = [];
  for (const write of writes) after.push(yield* batch.write(write));
  return finish(batch, after);
}

const idempotencyKeyOf = ({ actor, idempotencyKey }: ActionBy): { readonly idempotencyKey?: ActorKey } =>
  idempotencyKey === undefined ? {} : { idempotencyKey: { ...idempotencyKey, actor } };
