import { setImmediate as nextTurn } from "node:timers/promises";
import { finish, finishWithin, type Steps } from "../../../core/steps.ts";
import { createTurns } from "../../../process/turns.ts";
import type { LoggedRow } from "../../model.ts";
import { mostSignatures } from "../plan-signatures.ts";
import type { WriteEffect } from "../write-effect.ts";
import type { GroupCommit } from "./group-commit.ts";
import { type ManyRows, preparingRows } from "./many-rows.ts";
import type { WriteSide } from "./write-side.ts";

/** What a write does to one zone. */
export type PlannedWrite = Pick<WriteEffect, "changes"> & {
  readonly log: readonly Pick<LoggedRow, "change">[];
  /** Whether the zone is still as it was when the write was planned. */
  readonly isCurrent: (on: WriteSide) => boolean;
  /** What has to be signed first. `changes` and `log` are known only then. */
  readonly signing?: { readonly count: number; readonly now: () => void; readonly beside: () => Promise<void> };
  readonly apply: (on: WriteSide) => void;
  /** The same in steps, with the rows prepared beforehand. */
  readonly applying: (on: WriteSide, rows: ManyRows) => Steps<void>;
};

export type Plan<T> = {
  readonly writes: readonly PlannedWrite[];
  /** Whether everything else that the plan depends on is still as it was. */
  readonly isCurrent?: (on: WriteSide) => boolean;
  /** Called after the writes, in the same transaction. */
  readonly finish: (on: WriteSide) => T;
};

/** It must be pure: it is called again if the transaction is repeated. */
export type Planning<T> = (on: WriteSide) => Steps<Plan<T>>;

export type LargeWritesOptions = {
  readonly commit: GroupCommit<readonly LoggedRow[]>;
  readonly main: WriteSide;
  /** Opens another connection; undefined if there can be only one. */
  readonly open: (() => WriteSide) | undefined;
};

/** A write is large if it takes more steps to plan, or has more changes or signatures. */
const most = { steps: 2_000, changes: 1_000, signatures: mostSignatures };
/** If the zone has changed during every one of these tries, the write is done in one piece, and everybody waits. */
const tries = 3;
/** Milliseconds of work per turn of the event loop. */
const part = 5;

/**
 * Does writes in one transaction each. A small one is planned and written in one piece, together with others. A large
 * one would block the process for too long. It gets its own connection: there it is planned from a snapshot, and
 * written if its zones are still as they were, a few milliseconds per turn of the event loop. Meanwhile other
 * requests read the state before it; only other writes wait while it is written.
 */
export function createLargeWrites({ commit, main, open }: LargeWritesOptions) {
  const turns = createTurns({ part });
  const sides = new Set<WriteSide>();
  let isClosed = false;

  const small = <T>(planning: Planning<T>, isLast: boolean) =>
    commit(() => {
      const plan = isLast ? finish(planning(main)) : finishWithin(planning(main), most.steps);
      if (plan === undefined) return { kind: "large" } as const;
      const changes = plan.writes.reduce((sum, write) => sum + write.changes.length, 0);
      const signatures = plan.writes.reduce((sum, { signing }) => sum + (signing?.count ?? 0), 0);
      if ((changes > most.changes || signatures > most.signatures) && !isLast) return { kind: "large", plan } as const;
      for (const write of plan.writes) {
        write.signing?.now();
        write.apply(main);
      }
      return { kind: "done", result: plan.finish(main) } as const;
    });

  const planned = async <T>(planning: Planning<T>, side: WriteSide): Promise<Plan<T>> => {
    side.database.exec("BEGIN");
    const plan = await turns.run(0, planning(side));
    side.database.exec("COMMIT");
    return plan;
  };

  /** Undefined if the plan is out of date. */
  const written = async <T>(plan: Plan<T>, side: WriteSide): Promise<{ readonly result: T } | undefined> => {
    if (plan.writes.length === 0)
      return await commit(() => (isCurrent(plan, main) ? { result: plan.finish(main) } : undefined));
    const writes: Steps<void>[] = [];
    for (const write of plan.writes) {
      await write.signing?.beside();
      writes.push(write.applying(side, await turns.run(0, preparingRows(write))));
    }
    return await commit.apart(async () => {
      const { database, known, writer } = side;
      try {
        database.exec("BEGIN IMMEDIATE");
        // What was read for the plan may be outdated.
        known.forget();
        if (!isCurrent(plan, side)) return undefined;
        writer.begun();
        for (const write of writes) await inParts(write);
        const result = plan.finish(side);
        writer.ending();
        const trouble = commit.trouble();
        if (trouble !== undefined) throw trouble;
        database.exec("COMMIT");
        main.known.forget();
        return { result: { result }, committed: writer.logged() };
      } finally {
        if (database.isOpen && database.isTransaction) database.exec("ROLLBACK");
      }
    });
  };

  const large = async <T>(planning: Planning<T>, begun: Plan<T> | undefined, openSide: () => WriteSide) => {
    if (isClosed) throw closed();
    const side = openSide();
    sides.add(side);
    try {
      return await written(begun ?? (await planned(planning, side)), side);
    } catch (error) {
      throw isClosed ? closed(error) : error;
    } finally {
      sides.delete(side);
      if (side.database.isOpen) side.database.close();
    }
  };

  return {
    commit: async <T>(planning: Planning<T>): Promise<T> => {
      const begun = await small(planning, open === undefined);
      if (begun.kind === "done") return begun.result;
      let { plan } = begun;
      for (let left = tries; left > 0 && open !== undefined; left--) {
        const done = await large(planning, plan, open);
        if (done !== undefined) return done.result;
        plan = undefined;
      }
      const last = await small(planning, true);
      if (last.kind === "large") throw new Error("a write in one piece cannot be too large");
      return last.result;
    },
    /** Rolls back large writes that have not ended. */
    close: (): void => {
      isClosed = true;
      for (const { database } of sides) database.close();
      sides.clear();
    },
  };
}

const closed = (cause?: unknown) => new Error("the store is closed", { cause });

const isCurrent = (plan: Plan<unknown>, on: WriteSide): boolean =>
  plan.writes.every((write) => write.isCurrent(on)) && (plan.isCurrent?.(on) ?? true);

/** Others wait for the end, so it gives way less often than `Turns`. */
async function inParts<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const end = performance.now() + part;
    do {
      const step = steps.next();
      if (step.done) return step.value;
    } while (performance.now() < end);
    await nextTurn();
  }
}
