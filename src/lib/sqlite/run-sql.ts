import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { inWords, type Sql, sqliteDialect } from "./sql.ts";

/**
 * Runs a statement. Statements are prepared on first use and kept. Their text comes from the code, not from clients, so
 * their number is bounded.
 */
function sqliteRows(database: DatabaseSync) {
  const prepared = new Map<string, StatementSync>();
  return <Row>(words: string, values: readonly SQLInputValue[]): readonly Row[] => {
    const statement = prepared.get(words) ?? database.prepare(words);
    prepared.set(words, statement);
    return statement.all(...values) as Row[];
  };
}

export function sqliteSql(
  database: DatabaseSync,
  commit: <T>(write: () => T) => Promise<T> = async (write) => write(),
): Sql {
  const rows = sqliteRows(database);
  return {
    dialect: sqliteDialect,
    read: async (text) => rows(inWords(text, sqliteDialect), text.values as SQLInputValue[]),
    write: (text) => commit(() => rows(inWords(text, sqliteDialect), text.values as SQLInputValue[])),
  };
}
