import type { CompiledQuery } from "kysely";
import { postgresText, type RunSql } from "../../../process/database/sql-text.ts";
import { observe } from "../../../process/metrics.ts";
import type { Postgres } from "../../../process/postgres/open.ts";
import type { Rows, Statement } from "../../../process/postgres/statement.ts";
import type { StoreCounters } from "../counters.ts";
import type { Sql, Tables } from "../sql/tables.ts";

const text = postgresText<Tables>();
const nothingMore: Statement = { text: "SELECT 1" };

/** Queries of `store-sql-*.ts`, each on its own: what reads is repeated when the connection is lost. */
export function postgresSql(postgres: Postgres): Sql {
  const run: RunSql = async (query) =>
    query.query.kind === "SelectQueryNode"
      ? rowsOf(await postgres.read(toStatement(query)))
      : await inTransaction(postgres, (sql) => sql.run(query));
  return { text, run };
}

/** Counts each transaction as one write. */
export function countWrites(postgres: Postgres, counters: StoreCounters): Postgres {
  const transact: Postgres["transact"] = async (work) => {
    const begun = performance.now();
    counters.waiting += 1;
    try {
      const committed = await postgres.transact(work);
      counters.writes += 1;
      counters.commits += 1;
      observe(counters.commitSeconds, (performance.now() - begun) / 1_000);
      return committed;
    } catch (error) {
      counters.failed += 1;
      throw error;
    } finally {
      counters.waiting -= 1;
    }
  };
  return { ...postgres, transact };
}

/** All of `work` or nothing of it; `last` is said with the commit. */
export async function inTransaction<T>(
  postgres: Postgres,
  work: (sql: Sql) => Promise<T>,
  last = nothingMore,
): Promise<T> {
  const { result } = await postgres.transact(async (run) => {
    const runHere: RunSql = async (query) => rowsOf(await run(toStatement(query)));
    return { result: await work({ text, run: runHere }), last };
  });
  return result;
}

const toStatement = ({ sql, parameters }: CompiledQuery): Statement => ({ text: sql, values: parameters });
const rowsOf = <Row>({ rows }: Rows): readonly Row[] => rows as readonly Row[];
