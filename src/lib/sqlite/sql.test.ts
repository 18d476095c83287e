import { expect, it } from "vitest";
import { allOf, inWords, postgresDialect, type SqlText, sql, sqliteDialect } from "./sql.ts";

const nothing = sql``;
const named = sql`name = ${"a"}`;

it.for<readonly [what: string, text: SqlText, sqlite: string, postgres: string, values: readonly unknown[]]>([
  ["a value becomes a parameter", sql`a = ${1} OR b = ${null}`, "a = ? OR b = ?", "a = $1 OR b = $2", [1, null]],
  ["a part is inserted as SQL", sql`${named} LIMIT ${2}`, "name = ? LIMIT ?", "name = $1 LIMIT $2", ["a", 2]],
  [
    "parts may follow each other directly",
    sql`${named}${nothing}${named}`,
    "name = ?name = ?",
    "name = $1name = $2",
    ["a", "a"],
  ],
  ["a list is one value", postgresDialect.anyOf(sql`n`, [1, 2]), "n = any(?)", "n = any($1)", [[1, 2]]],
  [
    "conditions are joined with AND",
    allOf([named, sql`true`, named]),
    "name = ? AND true AND name = ?",
    "name = $1 AND true AND name = $2",
    ["a", "a"],
  ],
])("%s", ([, text, sqlite, postgres, values]) => {
  expect([inWords(text, sqliteDialect), inWords(text, postgresDialect), text.values]).toEqual([
    sqlite,
    postgres,
    values,
  ]);
});
