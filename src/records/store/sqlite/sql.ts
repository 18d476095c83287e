import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { CompiledQuery } from "kysely";
import { type RunSql, sqliteText } from "../../../process/database/sql-text.ts";
import { createSqlConsole } from "../sql/console.ts";
import { createSqlGrants } from "../sql/grants.ts";
import { createSqlReads } from "../sql/read.ts";
import { createSqlSecrets } from "../sql/secrets.ts";
import type { Sql, Tables } from "../sql/tables.ts";
import { createSqlTokens } from "../sql/tokens.ts";
import { createSqlTransferKeys } from "../sql/transfer-keys.ts";
import type { Commit } from "./group-commit.ts";

const text = sqliteText<Tables>();

/** Queries of `store-sql-*.ts` on a SQLite file. Tokens are only listed so: `moor token add` need not load this. */
export function sqliteQueries(database: DatabaseSync, commit: Commit) {
  const sql = sqliteSql(database, commit);
  const { tokens } = createSqlTokens(sql);
  return {
    ...createSqlReads(sql),
    tokens,
    ...createSqlTransferKeys(sql),
    ...createSqlGrants(sql),
    ...createSqlSecrets(sql),
    ...createSqlConsole(sql),
  };
}

/**
 * Each text is prepared when it is first needed. Their words come from the code and never from a client, so their number is
 * bounded.
 */
function sqliteSql(database: DatabaseSync, commit: Commit): Sql {
  const known = new Map<string, StatementSync>();
  const prepared = (words: string): StatementSync => {
    const statement = known.get(words) ?? database.prepare(words);
    known.set(words, statement);
    return statement;
  };
  const run: RunSql = async <Row>({ query, sql, parameters }: CompiledQuery<Row>) => {
    const rows = () => prepared(sql).all(...(parameters as SQLInputValue[])) as Row[];
    return query.kind === "SelectQueryNode" ? rows() : await commit(rows);
  };
  return { text, run };
}
