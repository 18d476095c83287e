import type { Statement } from "../process/postgres-statement.ts";
import type { Outcome } from "./store-postgres-batch.ts";

const day = 86_400_000;
const actionsKept = { days: 7, most: 250_000 };
const keysKept = { days: 1, most: 100_000 };
/** How many are written between two looks at what is too old, and how many then go at the most. */
const between = 1_000;
const atOnce = 5_000;

/** What is to be deleted with a batch: now and then, a part at a time. */
export type Purge = (outcome: Pick<Outcome, "actions" | "keys">) => readonly Statement[];

export function createPurge(): Purge {
  const since = { actions: between, keys: between };
  const isDue = (kind: "actions" | "keys", rows: readonly unknown[]): boolean => {
    if (rows.length === 0) return false;
    since[kind] += rows.length;
    if (since[kind] < between) return false;
    since[kind] = 0;
    return true;
  };
  return ({ actions, keys }) => [
    ...(isDue("actions", actions) ? oldActions(actions.at(-1)?.at ?? 0) : []),
    ...(isDue("keys", keys) ? oldKeys(keys.at(-1)?.at ?? 0) : []),
  ];
}

/** Another node may be deleting the same: what it has locked is left to it. */
const deletion = (table: string, key: string, which: string, values: readonly unknown[]): Statement => ({
  text:
    `DELETE FROM ${table} WHERE ${key} IN (SELECT ${key.replace(/[()]/g, "")} FROM ${table} ` +
    `WHERE ${which} LIMIT ${atOnce} FOR UPDATE SKIP LOCKED)`,
  values,
});

const oldActions = (now: number): readonly Statement[] => [
  deletion("actions", "id", "id < (SELECT coalesce(min(id), 9e15) FROM actions WHERE at >= $1)", [
    now - actionsKept.days * day,
  ]),
  deletion("actions", "id", "id <= (SELECT max(id) FROM actions) - $1::bigint", [actionsKept.most]),
];

const oldKeys = (now: number): readonly Statement[] => [
  deletion("once_keys", "(actor, key)", "at < $1", [now - keysKept.days * day]),
  deletion("once_keys", "(actor, key)", "at < (SELECT at FROM once_keys ORDER BY at DESC LIMIT 1 OFFSET $1)", [
    keysKept.most,
  ]),
];
