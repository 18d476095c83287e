import { finish, finishWithin, type Steps } from "../../../core/steps.ts";
import type { LoggedRow } from "../../model.ts";
import { mostSignatures, type PresignedByZone, type PresignedForWrite, PresignNeeded } from "../plan-signatures.ts";
import type { Command } from "../port.ts";
import type { SigningPace } from "../sign-names.ts";
import type { WriteEffect } from "../write-effect.ts";
import type { ManyRows } from "./many-rows.ts";
import type { WriteConnection } from "./write-connection.ts";

/** What a write does to one zone. */
export type PlannedWrite = Pick<WriteEffect, "changes"> & {
  readonly log: readonly Pick<LoggedRow, "change">[];
  /** Whether the zone is still as it was when the write was planned. */
  readonly isCurrent: (connection: WriteConnection) => boolean;
  /** What has to be signed first. `log` is known only then. */
  readonly signatures?: WriteSigning;
  readonly apply: (connection: WriteConnection) => void;
  /** Like `apply`, in steps and with the rows prepared beforehand. */
  readonly applying: (connection: WriteConnection, rows: ManyRows) => Steps<void>;
};

export type WriteSigning = {
  readonly count: number;
  /** Blocks. */
  readonly signNow: () => void;
  /** In other threads. */
  readonly signOffThread: (way: SigningPace) => Promise<void>;
};

export type Plan<T> = {
  readonly writes: readonly PlannedWrite[];
  /** Whether everything else that the plan depends on is still as it was. */
  readonly isCurrent?: (connection: WriteConnection) => boolean;
  /** Called after the writes, in the same transaction. */
  readonly finish: (connection: WriteConnection) => T;
};

/** Writes nothing outside the transaction: it is called again if that is repeated. */
export type Planning<T> = (connection: WriteConnection, presigned?: PresignedForWrite) => Steps<Plan<T>>;

/** `command`: the same write as plain data. `presigned`: what was signed for it. */
export type PlannableWrite<T> = {
  readonly planning: Planning<T>;
  readonly command: Command;
  readonly presigned?: PresignedByZone | undefined;
};

/** A write is large if it takes more steps to plan, or has more changes or signatures. */
export type SmallWriteLimits = { readonly steps: number; readonly changes: number; readonly signatures: number };

export const smallWriteLimits: SmallWriteLimits = { steps: 2_000, changes: 1_000, signatures: mostSignatures };
/**
 * A write is also large if planning takes longer than `after` milliseconds. Its first `steps` steps are exempt: if so
 * few are slow, the machine is the cause.
 */
const slowPlanning = { after: 5, steps: 200 };

/** Plans the write; undefined if it exceeds the limits, so that nothing is written. Call it inside a transaction. */
export function writePlannedIfSmall<T>(
  connection: WriteConnection,
  { planning, presigned }: PlannableWrite<T>,
  limits: SmallWriteLimits | undefined,
): { readonly result: T } | undefined {
  const plan = limits
    ? planWithin(limits.steps, () => planning(connection, presigned))
    : finish(planning(connection, "none"));
  if (plan === undefined) return undefined;
  const changes = plan.writes.reduce((sum, write) => sum + write.changes.length, 0);
  const count = plan.writes.reduce((sum, { signatures }) => sum + (signatures?.count ?? 0), 0);
  if (limits && (changes > limits.changes || count > limits.signatures)) return undefined;
  for (const write of plan.writes) {
    write.signatures?.signNow();
    write.apply(connection);
  }
  return { result: plan.finish(connection) };
}

/** Undefined if it takes too long, or if names have to be presigned. */
function planWithin<T>(steps: number, planning: () => Steps<Plan<T>>): Plan<T> | undefined {
  try {
    return finishWithin(planning(), steps, isSlow());
  } catch (error) {
    if (error instanceof PresignNeeded) return undefined;
    throw error;
  }
}

function isSlow(): (taken: number) => boolean {
  const end = performance.now() + slowPlanning.after;
  return (taken) => taken >= slowPlanning.steps && performance.now() > end;
}
