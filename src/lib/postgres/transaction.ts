import { setTimeout as sleep } from "node:timers/promises";
import type { PoolClient } from "pg";
import { StoreBusy } from "../limits/store-busy.ts";
import type { CommitMark } from "./commit-marks.ts";
import { faultOf } from "./faults.ts";
import { type Committed, type Ending, type Rows, type Statement, toQuery } from "./statement.ts";

type Run = (statement: Statement) => Promise<Rows>;
export type Connections = {
  readonly withClient: <T>(work: (client: PoolClient) => Promise<T>) => Promise<T>;
  /** Milliseconds to find out how a transaction ended. */
  readonly limit: number;
  /**
   * Milliseconds for COMMIT, or as long as the work took if that is longer. A server that waits for a standby answers
   * only when the standby has everything, and no limit of its own applies.
   */
  readonly commitLimit: number;
  readonly mark: () => CommitMark;
};

/**
 * One attempt at a transaction, READ COMMITTED. When the connection is lost while COMMIT is under way, the server is
 * asked on another connection whether it committed: so the answer is never wrong, and nothing is written twice.
 */
export async function resultOf<T>(work: (run: Run) => Promise<Ending<T>>, to: Connections): Promise<Committed<T>> {
  let doubt: (Doubt & { readonly result: T }) | undefined;
  try {
    return await to.withClient(async (client) => {
      const start = performance.now();
      const begun = begin(client);
      // It is awaited after the work; until then, its rejection must not end the process.
      begun.catch(() => undefined);
      let failure: unknown;
      const run = (statement: Statement): Promise<Rows> => {
        const rows = client.query(toQuery(statement));
        rows.catch((error: unknown) => {
          failure ??= error;
        });
        return rows;
      };
      try {
        const { result, last } = await work(run);
        const xid = await begun;
        if (last === undefined) {
          await client.query("ROLLBACK");
          return { result, last };
        }
        doubt = { xid, result, mark: to.mark() };
        const limit = Math.max(to.commitLimit, performance.now() - start);
        const rows = await commit(client, last, doubt.mark, limit);
        doubt.mark.free();
        return { result, last: rows };
      } catch (later) {
        // After the first failure, every other statement only reports that there was one.
        const error = await begun.then(
          () => (isIgnored(later) ? (failure ?? later) : later),
          (first: unknown) => first,
        );
        if (faultOf(error) !== "lost") {
          doubt?.mark.free();
          doubt = undefined;
          await client.query("ROLLBACK");
        }
        throw error;
      }
    });
  } catch (error) {
    if (doubt === undefined || faultOf(error) !== "lost") throw error;
    const happened = await hasCommitted(doubt, to);
    doubt.mark.free();
    if (happened) return { result: doubt.result, last: undefined };
    throw error;
  }
}

/** One attempt at several reads of one moment. */
export async function inSnapshot<T>(client: PoolClient, work: (run: Run) => Promise<T>): Promise<T> {
  await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  try {
    return await work((statement) => client.query(toQuery(statement)));
  } finally {
    // If the connection is lost, its transaction is too.
    await client.query("ROLLBACK").catch(() => undefined);
  }
}

type Doubt = { readonly xid: string; readonly mark: CommitMark };

/** Returns the transaction id. It is read together with BEGIN: once the connection is lost, it is too late. */
async function begin(client: PoolClient): Promise<string> {
  const [, { rows }] = await Promise.all([
    client.query("BEGIN"),
    client.query<{ xid: string }>({ name: "xid", text: "SELECT pg_current_xact_id()::text AS xid" }),
  ]);
  const [row] = rows;
  if (row === undefined) throw new Error("the transaction has no id");
  return row.xid;
}

/** After a failed statement, the server treats COMMIT as ROLLBACK. */
async function commit(client: PoolClient, last: Statement, mark: CommitMark, limit: number): Promise<Rows> {
  const sent = [client.query(toQuery(last)), client.query(toQuery(mark.leave)), client.query("COMMIT")] as const;
  const [rows, marked] = await Promise.allSettled([sent[0], sent[1]]);
  const timer = setTimeout(() => client.connection.stream.destroy(), limit);
  const [ended] = await Promise.allSettled([sent[2]]);
  clearTimeout(timer);
  if (rows.status === "rejected") throw rows.reason;
  if (marked.status === "rejected") throw marked.reason;
  if (ended.status === "rejected") throw ended.reason;
  if (ended.value.command !== "COMMIT") throw new Error(`a transaction ended with ${ended.value.command}`);
  return rows.value;
}

/** Rejects with an error that says so if it cannot be found out in time. */
async function hasCommitted({ xid, mark }: Doubt, { withClient, limit }: Connections): Promise<boolean> {
  const deadline = performance.now() + limit;
  let cause: unknown;
  while (performance.now() < deadline) {
    try {
      const isCommitted = await withClient(async (client) => {
        if (await isUnderWay(client, xid)) return undefined;
        return (await client.query(toQuery(mark.find))).rowCount === 1;
      });
      if (isCommitted !== undefined) return isCommitted;
    } catch (error) {
      // Whatever it is: its caller would take another error for a transaction that was not committed, and repeat it.
      cause = error;
    }
    await sleep(50);
  }
  throw new StoreBusy("the connection was lost during a commit, so the write may or may not have been saved", {
    cause,
  });
}

/** https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SNAPSHOT */
async function isUnderWay(client: PoolClient, xid: string): Promise<boolean> {
  try {
    const text = "SELECT pg_xact_status($1::xid8) AS status";
    const { rows } = await client.query<{ status: string | null }>(text, [xid]);
    return rows[0]?.status === "in progress";
  } catch (error) {
    if ((error as { readonly code?: string }).code === inTheFuture) return false;
    throw error;
  }
}

/** in_failed_sql_transaction */
const isIgnored = (error: unknown): boolean => (error as { readonly code?: string } | undefined)?.code === "25P02";

/**
 * The error for an id that the server has not given out yet. After a crash, that may be an id that it gave out before
 * the crash.
 */
const inTheFuture = "22023";
