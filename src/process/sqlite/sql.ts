import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { inWords, type Sql, type SqlText, sqliteDialect } from "../database/sql.ts";

/** Statements are prepared on first use and kept. Their text comes from the code, not from clients, so their number is bounded. */
export function sqliteSql(
  database: DatabaseSync,
  commit: <T>(write: () => T) => Promise<T> = async (write) => write(),
): Sql {
  const prepared = new Map<string, StatementSync>();
  const rowsOf = <Row>(text: SqlText): readonly Row[] => {
    const words = inWords(text, sqliteDialect);
    const statement = prepared.get(words) ?? database.prepare(words);
    prepared.set(words, statement);
    return statement.all(...(text.values as SQLInputValue[])) as Row[];
  };
  return {
    dialect: sqliteDialect,
    read: async (text) => rowsOf(text),
    write: (text) => commit(() => rowsOf(text)),
  };
}
