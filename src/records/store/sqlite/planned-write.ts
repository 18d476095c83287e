import { finish, finishWithin, type Steps } from "../../../core/steps.ts";
import type { LoggedRow } from "../../model.ts";
import type { Command } from "../port.ts";
import type { AsideNeeded, AsidesByZone } from "../signed/sign-aside.ts";
import type { WriteEffect } from "../write-effect.ts";
import type { ManyRows } from "./many-rows.ts";
import type { WriteConnection } from "./write-connection.ts";

/** What a write does to one zone. */
export type PlannedWrite = Pick<WriteEffect, "changes"> & {
  readonly log: readonly Pick<LoggedRow, "change">[];
  /** Whether the zone is still as it was when the write was planned. */
  readonly isCurrent: (connection: WriteConnection) => boolean;
  /** Names that have to be signed before this write; then it is planned again with them. */
  readonly needs?: AsideNeeded | undefined;
  readonly apply: (connection: WriteConnection) => void;
  /** Like `apply`, in steps and with the rows prepared beforehand. */
  readonly applying: (connection: WriteConnection, rows: ManyRows) => Steps<void>;
};

export type Plan<T> = {
  readonly writes: readonly PlannedWrite[];
  /** Whether everything else that the plan depends on is still as it was. */
  readonly isCurrent?: (connection: WriteConnection) => boolean;
  /** Called after the writes, in the same transaction. */
  readonly finish: (connection: WriteConnection) => T;
};

/** Writes nothing outside the transaction: it is called again if that is repeated. */
export type Planning<T> = (connection: WriteConnection, asides?: AsidesByZone) => Steps<Plan<T>>;

/** `command`: the same write as plain data. `asides`: names that were signed for it. */
export type PlannableWrite<T> = {
  readonly planning: Planning<T>;
  readonly command: Command;
  readonly asides?: AsidesByZone | undefined;
};

/** A write is large if it takes more steps to plan, or has more changes. */
export type SmallWriteLimits = { readonly steps: number; readonly changes: number };

export const smallWriteLimits: SmallWriteLimits = { steps: 2_000, changes: 1_000 };
/**
 * A write is also large if planning takes longer than `after` milliseconds. Its first `steps` steps are exempt: if so
 * few are slow, the machine is the cause.
 */
const slowPlanning = { after: 5, steps: 200 };

/**
 * Plans the write; undefined if it exceeds the limits, or needs names that are signed first, so that nothing is
 * written. Call it inside a transaction.
 */
export function writePlannedIfSmall<T>(
  connection: WriteConnection,
  { planning, asides }: PlannableWrite<T>,
  limits: SmallWriteLimits | undefined,
): { readonly result: T } | undefined {
  const planned = planning(connection, asides);
  const plan = limits ? finishWithin(planned, limits.steps, isSlow()) : finish(planned);
  if (plan === undefined) return undefined;
  const changes = plan.writes.reduce((sum, write) => sum + write.changes.length, 0);
  if (limits && (changes > limits.changes || plan.writes.some(({ needs }) => needs))) return undefined;
  for (const write of plan.writes) write.apply(connection);
  return { result: plan.finish(connection) };
}

function isSlow(): (taken: number) => boolean {
  const end = performance.now() + slowPlanning.after;
  return (taken) => taken >= slowPlanning.steps && performance.now() > end;
}
