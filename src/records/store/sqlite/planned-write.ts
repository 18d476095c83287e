import { finish, finishWithin, isSteps, type Steps } from "../../../core/steps.ts";
import type { Zone } from "../../model.ts";
import { type Plan, type PlanOptions, planRule, type ZoneWrite } from "../plan-rule.ts";
import type { Command, Rule, RunningAction } from "../port.ts";
import type { ManyRows } from "./many-rows.ts";
import type { WriteConnection } from "./write-connection.ts";

/** A command, its rule, and how it is planned. */
export type PlannableWrite = {
  readonly command: Command;
  readonly rule: Rule;
  readonly options: PlanOptions;
  readonly running: RunningAction | undefined;
};

/** A write is large if it takes more steps to plan, or has more changes. */
export type SmallWriteLimits = { readonly steps: number; readonly changes: number };

export const smallWriteLimits: SmallWriteLimits = { steps: 2_000, changes: 1_000 };
/**
 * A write is also large if planning takes longer than `after` milliseconds. Its first `steps` steps are exempt: if so
 * few are slow, the machine is the cause.
 */
const slowPlanning = { after: 5, steps: 200 };

export const planOn = (
  connection: WriteConnection,
  { rule, options, running }: PlannableWrite,
): Plan<unknown> | Steps<Plan<unknown>> => planRule(connection, rule, options, running);

/**
 * Undefined if the write exceeds the limits, or needs names that are signed first; then nothing is written. Call it
 * inside a transaction.
 */
export function writeIfSmall(
  connection: WriteConnection,
  write: PlannableWrite,
  limits: SmallWriteLimits | undefined,
): { readonly result: unknown } | undefined {
  connection.expectAccess(write.command);
  const planned = planOn(connection, write);
  const plan = isSteps(planned) ? finishSmall(planned, limits) : planned;
  if (plan === undefined || plan.needs !== undefined) return undefined;
  if (limits && plan.writes.reduce((sum, { changes }) => sum + changes.length, 0) > limits.changes) return undefined;
  const after = plan.writes.map((each) => writeZone(connection, each));
  return { result: plan.finish(connection, after) };
}

const finishSmall = (planning: Steps<Plan<unknown>>, limits: SmallWriteLimits | undefined) =>
  limits ? finishWithin(planning, limits.steps, isSlow()) : finish(planning);

function isSlow(): (taken: number) => boolean {
  const end = performance.now() + slowPlanning.after;
  return (taken) => taken >= slowPlanning.steps && performance.now() > end;
}

/** Returns the zone as it is then. */
function writeZone(connection: WriteConnection, write: ZoneWrite): Zone {
  const { writer } = connection;
  if (write.kind === "create") {
    const created = connection.createZone(write.zone);
    writer.createSets(created, write.changes, write.by);
    return created;
  }
  writer.apply(write.effect, write.sets);
  if (write.kind === "remove") connection.removeZone(write.effect.zone, write.before);
  return write.effect.zone;
}

/** The same in steps and with the rows prepared beforehand. */
export function* writingZone(connection: WriteConnection, write: ZoneWrite, rows: ManyRows): Steps<Zone> {
  const { writer } = connection;
  if (write.kind === "create") {
    const created = connection.createZone(write.zone);
    yield* writer.creatingSets(created, write.changes, write.by, rows);
    return created;
  }
  yield* writer.applying(write.effect, rows);
  if (write.kind === "remove") connection.removeZone(write.effect.zone, write.before);
  return write.effect.zone;
}

/** Whether the zones of a plan, and all else that it depends on, are as they were when it was made. */
export const isCurrent = (plan: Plan<unknown>, connection: WriteConnection): boolean =>
  plan.writes.every((write) => write.kind === "create" || isAsPlanned(write.before, connection)) &&
  (plan.isCurrent?.(connection) ?? true);

/** The signer changes neither serial nor time, but perhaps where the names are that are deleted with the zone. */
function isAsPlanned({ id, serial, modified, signedNamesNumber }: Zone, { rowCache }: WriteConnection): boolean {
  const now = rowCache.zone(id);
  return now?.serial === serial && now.modified === modified && now.signedNamesNumber === signedNamesNumber;
}
