import { apex } from "../../../core/names/name.ts";
import { soaIn } from "../../../core/records/soa-timers.ts";
import { type Sql, sql } from "../../../lib/sqlite/sql.ts";
import type { SecondaryNote, SecondaryState, Zone } from "../../model.ts";
import { keyFromRow, type SetRow, setFromRow, type TransferKeyRow, type ZoneRow, zoneFromRow } from "../rows.ts";
import type { TransferStore, ZoneNumber } from "../transfer-keys.ts";

const revokedKept = 90 * 24 * 3_600_000;

/** What the store keeps for other nameservers. */
export function createSqlTransferKeys({ dialect: { anyOf, asJson }, read, write }: Sql): TransferStore {
  const keys = sql`SELECT transfer_keys.*, accounts.name AS account_name FROM transfer_keys
    LEFT JOIN accounts ON accounts.id = transfer_keys.account`;
  return {
    addTransferKey: async ({ name, algorithm, secret, account = null, scope, created }, most) => {
      await write(sql`DELETE FROM transfer_keys WHERE revoked < ${created - revokedKept}`);
      const inForce = sql`FROM transfer_keys WHERE revoked IS NULL AND account IS NOT DISTINCT FROM ${account}`;
      const [counted] = await read<{ readonly count: number }>(sql`SELECT count(*) AS count ${inForce}`);
      if (most !== undefined && (counted?.count ?? 0) >= most) return "too-many";
      const [key] = await write<TransferKeyRow>(
        sql`INSERT INTO transfer_keys (name, algorithm, secret, account, scope, created)
            VALUES (${name}, ${algorithm}, ${secret}, ${account}, ${JSON.stringify(scope)}, ${created})
            ON CONFLICT DO NOTHING
            RETURNING *, (SELECT accounts.name FROM accounts WHERE accounts.id = transfer_keys.account) AS account_name`,
      );
      return key === undefined ? "name-taken" : keyFromRow(key);
    },
    transferKey: async (name) => {
      const good = sql`${keys} WHERE transfer_keys.revoked IS NULL AND transfer_keys.name = ${name}`;
      const [row] = await read<TransferKeyRow>(good);
      return row && keyFromRow(row);
    },
    transferKeys: async () => (await read<TransferKeyRow>(sql`${keys} ORDER BY transfer_keys.number`)).map(keyFromRow),
    revokeTransferKey: async (name, now) => {
      // The secret of a revoked key is no longer needed, so it is not kept.
      const revoked = sql`UPDATE transfer_keys SET revoked = ${now}, secret = '' WHERE name = ${name} AND revoked IS NULL`;
      return (await write(sql`${revoked} RETURNING number`)).length === 1;
    },

    everyZone: async (after, limit) => {
      const columns = sql`number, name, record_count AS "recordCount"`;
      return await read<ZoneNumber>(
        sql`SELECT ${columns} FROM zones WHERE number > ${after} ORDER BY number LIMIT ${limit}`,
      );
    },
    secondaryZones: async () => {
      // Must match the expression of the index, or the index is not used.
      const secondary = sql`SELECT * FROM zones WHERE (${asJson(sql`settings`)} ->> 'mode') = 'secondary'`;
      return (await read<ZoneRow>(secondary)).map(zoneFromRow);
    },
    secondaryStates: async (zones) => {
      const numbers = zones.filter(({ settings }) => settings.mode === "secondary").map((zone) => zone.number);
      if (numbers.length === 0) return new Map();
      const states = await read<SetRow & SecondaryNote & { readonly zone: number }>(
        sql`SELECT rrsets.zone, checked, serial, owner, type, ttl, records, marks FROM secondary_state
            JOIN rrsets ON rrsets.zone = secondary_state.zone
            WHERE ${anyOf(sql`secondary_state.zone`, numbers)} AND owner = ${apex} AND type = 'SOA'`,
      );
      const rows = new Map(states.map((row) => [row.zone, row]));
      return new Map(zones.flatMap((zone) => stateOf(zone, rows.get(zone.number))));
    },
    noteSecondary: async (zone, { checked, serial }) => {
      await write(
        sql`INSERT INTO secondary_state (zone, checked, serial)
            SELECT number, cast(${checked} as bigint), cast(${serial} as bigint) FROM zones WHERE number = ${zone.number}
            ON CONFLICT (zone) DO UPDATE SET checked = excluded.checked, serial = excluded.serial`,
      );
    },
  };
}

function stateOf(
  zone: Zone,
  row: (SetRow & SecondaryNote) | undefined,
): readonly (readonly [number, SecondaryState])[] {
  if (row === undefined) return [];
  const { checked, serial } = row;
  return [[zone.number, { checked, serial, soa: soaIn([setFromRow(row, zone)]) }]];
}
