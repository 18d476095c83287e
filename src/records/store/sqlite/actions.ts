import type { DatabaseSync } from "node:sqlite";
import type { Instant } from "../../../core/instant.ts";
import type { Action, Zone } from "../../model.ts";
import {
  actionsKept,
  changedNothing,
  keysKept,
  purgedAtOnce,
  purgeEvery,
  signatures,
  untilPublished,
} from "../kept-actions.ts";
import type { ActionResult, IdempotencyKey, RunningAction } from "../port.ts";

type By = {
  readonly actor: string;
  readonly now: Instant;
  readonly idempotencyKey?: IdempotencyKey;
  readonly running?: RunningAction;
};

/** Call these inside a transaction. */
export function prepareActions(database: DatabaseSync) {
  const selectKey = database.prepare("SELECT fingerprint, at, outcome FROM once_keys WHERE actor = ? AND key = ?");
  const insertKey = database.prepare(
    "INSERT OR REPLACE INTO once_keys (actor, key, fingerprint, at, outcome) VALUES (?, ?, ?, ?, ?)",
  );
  const { purgeActions, purgeKeys } = preparePurges(database);
  const add = prepareAdd(database, purgeActions);

  return {
    /** The earlier answer to the same request. */
    earlierAnswer: <T>({ actor, now, idempotencyKey }: By): ActionResult<T> | "key-taken" | undefined => {
      const row = idempotencyKey && (selectKey.get(actor, idempotencyKey.key) as KeyRow | undefined);
      if (row === undefined || row.at <= now - keysKept.time) return undefined;
      return row.fingerprint === idempotencyKey?.fingerprint
        ? (JSON.parse(row.outcome) as ActionResult<T>)
        : "key-taken";
    },

    /**
     * Stores the action, if there is one, and the answer under its key. If the write changed a zone that is published
     * at a provider, the action is running until the provider has the change.
     */
    keep: <T>(zone: Zone, actionName: string | undefined, by: By, result: T, isChanged: boolean): ActionResult<T> => {
      const { actor, now, idempotencyKey } = by;
      const action = actionName === undefined ? undefined : add(zone, actionName, by, isChanged);
      const actionResult = { result, action, serial: zone.serial };
      if (idempotencyKey !== undefined) {
        purgeKeys(now);
        insertKey.run(actor, idempotencyKey.key, idempotencyKey.fingerprint, now, JSON.stringify(actionResult));
      }
      return actionResult;
    },
  };
}

type KeyRow = { readonly fingerprint: string; readonly at: number; readonly outcome: string };

function prepareAdd(database: DatabaseSync, purge: (now: Instant) => void) {
  const insert = database.prepare(
    "INSERT INTO actions (account, zone, zone_name, command, at, actor) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const publishing = database.prepare(
    "INSERT INTO actions (id, account, zone, zone_name, command, at, actor, running_until, publishes) " +
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) " +
      "ON CONFLICT (id) DO UPDATE SET running_until = excluded.running_until, publishes = excluded.publishes RETURNING id",
  );
  const end = database.prepare(
    "UPDATE actions SET running_until = NULL, finished = CAST(unixepoch('subsec') * 1000 AS INTEGER) WHERE id = ? RETURNING finished",
  );

  return (zone: Zone, command: string, { actor, now, running }: By, isChanged: boolean): Action => {
    const { account, number, name } = zone;
    purge(now);
    if (isChanged && zone.settings.published) {
      const row = publishing.get(
        running?.id ?? null,
        account,
        number,
        name,
        command,
        now,
        actor,
        untilPublished,
        zone.serial,
      );
      const { id } = row as { readonly id: number };
      return { id, zone: number, zoneName: name, command, at: now, status: "running" };
    }
    const of = { zone: number, zoneName: name, command, at: now, ...(zone.settings.published && changedNothing) };
    const ended = running?.id && (end.get(running.id) as { readonly finished: number } | undefined);
    if (running?.id && ended) return { id: running.id, ...of, ...ended };
    const { lastInsertRowid } = insert.run(account, number, name, command, now, actor);
    return { id: Number(lastInsertRowid), ...of };
  };
}

function preparePurges(database: DatabaseSync) {
  // The id is the only index: another one would cost every write more than it saves the few who list actions.
  const purgeActions = createPurge(database, {
    insertedIn: "actions",
    old: "SELECT id FROM actions WHERE id < (SELECT coalesce(min(id), 9e15) FROM actions WHERE at >= ?1)",
    surplus: `SELECT id FROM actions WHERE id <= (SELECT max(id) FROM actions) - ${actionsKept.most}`,
    key: "id",
    time: actionsKept.time,
  });
  const purgeKeys = createPurge(database, {
    insertedIn: "once_keys",
    old:
      "SELECT actor, key FROM once_keys WHERE at < ?1 OR " +
      `(at < ?1 + ${keysKept.time - signatures.kept} AND fingerprint = '${signatures.fingerprint}')`,
    surplus: `SELECT actor, key FROM once_keys ORDER BY at DESC LIMIT -1 OFFSET ${keysKept.most}`,
    key: "(actor, key)",
    time: keysKept.time,
  });
  return { purgeActions, purgeKeys };
}

/**
 * Purges on the first write and then on every thousandth: deletes a limited number of the rows that are too old or
 * too many.
 */
function createPurge(
  database: DatabaseSync,
  { insertedIn, old, surplus, key, time }: Record<"insertedIn" | "old" | "surplus" | "key", string> & { time: number },
) {
  const deletes = [old, surplus].map((which) =>
    database.prepare(`DELETE FROM ${insertedIn} WHERE ${key} IN (SELECT * FROM (${which}) LIMIT ${purgedAtOnce})`),
  );
  let since = purgeEvery;
  return (now: Instant): void => {
    since += 1;
    if (since < purgeEvery) return;
    since = 0;
    deletes[0]?.run(now - time);
    deletes[1]?.run();
  };
}
