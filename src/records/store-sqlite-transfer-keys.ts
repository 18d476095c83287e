import type { DatabaseSync } from "node:sqlite";
import type { Commit } from "./group-commit.ts";
import { type KeyRow, keyFromRow, type ZoneRow, zoneFromRow } from "./store-rows.ts";
import type { SecondaryState, TransferStore, ZoneNumber } from "./transfer-keys.ts";

export function prepareTransferKeys(database: DatabaseSync, commit: Commit): TransferStore {
  const columns =
    "transfer_keys.*, accounts.name AS account_name FROM transfer_keys " +
    "LEFT JOIN accounts ON accounts.id = transfer_keys.account";
  const insertKey = database.prepare(
    "INSERT INTO transfer_keys (name, algorithm, secret, account, scope, created) VALUES (?, ?, ?, ?, ?, ?) " +
      "ON CONFLICT DO NOTHING RETURNING number",
  );
  const selectNew = database.prepare(`SELECT ${columns} WHERE transfer_keys.number = ?`);
  const selectKey = database.prepare(
    `SELECT ${columns} WHERE transfer_keys.name = ? AND transfer_keys.revoked IS NULL`,
  );
  const selectKeys = database.prepare(`SELECT ${columns} ORDER BY transfer_keys.number`);
  // What is revoked is worth nothing, so that its secret need not lie about.
  const revokeKey = database.prepare(
    "UPDATE transfer_keys SET revoked = ?, secret = '' WHERE name = ? AND revoked IS NULL",
  );
  const selectZones = database.prepare("SELECT number, name FROM zones WHERE number > ? ORDER BY number LIMIT ?");
  const selectSecondaries = database.prepare("SELECT * FROM zones WHERE settings ->> 'mode' = 'secondary'");
  const selectState = database.prepare("SELECT checked, serial FROM secondary_state WHERE zone = ?");
  const upsertState = database.prepare(
    "INSERT INTO secondary_state (zone, checked, serial) SELECT number, ?, ? FROM zones WHERE number = ? " +
      "ON CONFLICT DO UPDATE SET checked = excluded.checked, serial = excluded.serial",
  );

  return {
    addTransferKey: (key) =>
      commit(() => {
        const { name, algorithm, secret, account, scope, created } = key;
        const made = insertKey.get(name, algorithm, secret, account ?? null, JSON.stringify(scope), created);
        return made === undefined ? "name-taken" : keyFromRow(selectNew.get(made.number ?? null) as KeyRow);
      }),
    transferKey: async (name) => {
      const row = selectKey.get(name) as KeyRow | undefined;
      return row && keyFromRow(row);
    },
    transferKeys: async () => (selectKeys.all() as KeyRow[]).map(keyFromRow),
    revokeTransferKey: (name, now) => commit(() => revokeKey.run(now, name).changes === 1),

    everyZone: async (after, limit) =>
      (selectZones.all(after, limit) as ZoneNumber[]).map(({ number, name }) => ({ number, name })),
    secondaryZones: async () => (selectSecondaries.all() as ZoneRow[]).map(zoneFromRow),
    secondaryState: async (zone) => {
      const row = selectState.get(zone.number) as SecondaryState | undefined;
      return row && { checked: row.checked, serial: row.serial };
    },
    noteSecondary: (zone, { checked, serial }) => commit(() => void upsertState.run(checked, serial, zone.number)),
  };
}
