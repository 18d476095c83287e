import { hash } from "node:crypto";
import type { Postgres } from "../../../lib/postgres/open.ts";
import type { Rows, Statement } from "../../../lib/postgres/statement.ts";
import { inWords, postgresDialect, type RunSql, type Sql, type SqlText } from "../../../lib/sqlite/sql.ts";
import { observe } from "../../../process/metrics.ts";
import type { StoreCounters } from "../counters.ts";

/** The last statement of a transaction that has done its work. */
export const nothingMore: Statement = { text: "SELECT 1" };

/** Runs each statement separately; a read is repeated if the connection is lost. */
export function postgresSql(postgres: Pick<Postgres, "read" | "transact">): Sql {
  return {
    dialect: postgresDialect,
    read: async (text) => rowsOf(await postgres.read(toStatement(text))),
    write: (text) => inTransaction(postgres, ({ write }) => write(text)),
  };
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

/** Runs all of `work` or nothing; `last` is sent together with the commit. */
export async function inTransaction<T>(
  postgres: Pick<Postgres, "transact">,
  work: (sql: Sql) => Promise<T>,
  last = nothingMore,
): Promise<T> {
  const { result } = await postgres.transact(async (run) => {
    const runHere: RunSql = async (text) => rowsOf(await run(toStatement(text)));
    return { result: await work({ dialect: postgresDialect, read: runHere, write: runHere }), last };
  });
  return result;
}

/**
 * Named, so that the server keeps it prepared. The texts come from the code and never from a client, so their number
 * is limited.
 */
const toStatement = (text: SqlText): Statement => {
  const words = inWords(text, postgresDialect);
  return { name: hash("sha1", words, "base64"), text: words, values: text.values };
};

const rowsOf = <Row>({ rows }: Rows): readonly Row[] => rows as readonly Row[];
