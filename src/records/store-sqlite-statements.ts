import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { Order } from "./store.ts";
import { distinctFields } from "./store-order.ts";

/** What is asked for, with its value; undefined: it is not. */
export type Condition = readonly [text: string, value: SQLInputValue] | undefined;

/**
 * Statements that are put together from what is asked for: SQLite uses no index for a condition that may also be absent. Each
 * is prepared when it is first needed. Their words come from the code and never from a client, so their number is bounded.
 */
export function createStatements(database: DatabaseSync): (text: string) => StatementSync {
  const known = new Map<string, StatementSync>();
  return (text) => {
    const statement = known.get(text) ?? database.prepare(text);
    known.set(text, statement);
    return statement;
  };
}

/** All of them at once, and their values in that order. */
export function allOf(...conditions: readonly Condition[]) {
  const asked = conditions.filter((each) => each !== undefined);
  return { text: asked.map(([text]) => text).join(" AND "), values: asked.map(([, value]) => value) };
}

/** Is one of these. */
export const anyOf = (column: string, values: readonly (string | number)[] | undefined): Condition =>
  values && [`${column} IN (SELECT value FROM json_each(?))`, JSON.stringify(values)];

/** What comes first in ORDER BY; empty, or with a comma at its end. */
export const sortedBy = <By extends string>(
  order: readonly Order<By>[],
  columns: Readonly<Record<By, string>>,
): string =>
  distinctFields(order)
    .map(({ by, descending }) => `${columns[by]} ${descending ? "DESC" : "ASC"}, `)
    .join("");
