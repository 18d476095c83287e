import type { Statement } from "../../../lib/postgres/statement.ts";
import { actionsKept, keysKept, purgedAtOnce, purgeEvery, signatures } from "../kept-actions.ts";
import type { BatchOutcome } from "./batch.ts";

/** Deletes old rows together with a batch: a limited number, after every `purgeEvery` new rows. */
export type Purge = (outcome: Pick<BatchOutcome, "actions" | "keys">) => readonly Statement[];

export function createPurge(): Purge {
  const since = { actions: purgeEvery, keys: purgeEvery };
  const isDue = (kind: "actions" | "keys", rows: readonly unknown[]): boolean => {
    if (rows.length === 0) return false;
    since[kind] += rows.length;
    if (since[kind] < purgeEvery) return false;
    since[kind] = 0;
    return true;
  };
  return ({ actions, keys }) => [
    ...(isDue("actions", actions) ? oldActions(actions.at(-1)?.at ?? 0) : []),
    ...(isDue("keys", keys) ? oldKeys(keys.at(-1)?.at ?? 0) : []),
  ];
}

/** Another node may be deleting the same rows: skip those it has locked. */
const deletion = (table: string, key: string, which: string, values: readonly unknown[]): Statement => ({
  text:
    `DELETE FROM ${table} WHERE ${key} IN (SELECT ${key.replace(/[()]/g, "")} FROM ${table} ` +
    `WHERE ${which} LIMIT ${purgedAtOnce} FOR UPDATE SKIP LOCKED)`,
  values,
});

const oldActions = (now: number): readonly Statement[] => [
  deletion("actions", "id", "id < (SELECT coalesce(min(id), 9e15) FROM actions WHERE at >= $1)", [
    now - actionsKept.time,
  ]),
  deletion("actions", "id", "id <= (SELECT max(id) FROM actions) - $1::bigint", [actionsKept.most]),
];

const oldKeys = (now: number): readonly Statement[] => [
  deletion("once_keys", "(actor, key)", "at < $1", [now - keysKept.time]),
  deletion("once_keys", "(actor, key)", "at < $1 AND fingerprint = $2", [
    now - signatures.kept,
    signatures.fingerprint,
  ]),
  deletion("once_keys", "(actor, key)", "at < (SELECT at FROM once_keys ORDER BY at DESC LIMIT 1 OFFSET $1)", [
    keysKept.most,
  ]),
];
