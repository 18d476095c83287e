import { type Sql, sql } from "../../../lib/sqlite/sql.ts";
import { type GrantRow, grantFromRow } from "../rows.ts";
import type { GrantStore } from "../zone-grants.ts";

export function createSqlGrants({ read, write }: Sql): GrantStore {
  const selectGrants = sql`SELECT zone_grants.*, accounts.name AS account_name, zones.name AS zone_name FROM zone_grants
    JOIN accounts ON accounts.id = zone_grants.account LEFT JOIN zones ON zones.number = zone_grants.zone`;
  const oldestFirst = sql`ORDER BY zone_grants.id`;

  return {
    addGrant: async ({ zone = null, account, name, actor, created }) => {
      // The casts tell PostgreSQL the types of the values.
      const columns = sql`cast(${zone} as bigint), cast(${account} as bigint), cast(${name} as text)`;
      const by = sql`cast(${actor} as text), cast(${created} as bigint)`;
      // The zone may have been deleted meanwhile.
      const isThere = sql`cast(${zone} as bigint) IS NULL OR EXISTS (SELECT 1 FROM zones WHERE number = ${zone})`;
      await write(
        sql`INSERT INTO zone_grants (zone, account, name, actor, created)
            SELECT ${columns}, ${by} WHERE ${isThere} ON CONFLICT DO NOTHING`,
      );
      const [row] = await read<GrantRow>(
        sql`${selectGrants} WHERE zone_grants.account = ${account} AND zone_grants.name = ${name}
            AND coalesce(zone_grants.zone, 0) = ${zone ?? 0}`,
      );
      return row === undefined ? "no-zone" : grantFromRow(row);
    },
    grants: async ({ zone }) => {
      const wanted = zone === undefined ? selectGrants : sql`${selectGrants} WHERE zone_grants.zone = ${zone}`;
      return (await read<GrantRow>(sql`${wanted} ${oldestFirst}`)).map(grantFromRow);
    },
    revokeGrant: async (id, zone) => {
      const named = zone === undefined ? sql`id = ${id}` : sql`id = ${id} AND zone = ${zone}`;
      return (await write(sql`DELETE FROM zone_grants WHERE ${named} RETURNING id`)).length === 1;
    },
  };
}
