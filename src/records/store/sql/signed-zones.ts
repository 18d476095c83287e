import { type Sql, sql } from "../../../lib/sqlite/sql.ts";
import type { SealedKey } from "../../signing/signer.ts";
import { type SignedNameRow, signedNameFromRow, type ZoneRow, zoneFromRow } from "../rows.ts";
import type { SignedZones } from "../signed-zones.ts";

export function createSqlSignedZones({ dialect: { anyOf }, read }: Sql): SignedZones {
  return {
    signedNames: async (zone, after = "", limit) => {
      const rows = sql`SELECT owner, link, expires, children, types, made FROM signed_names
        WHERE zone = (SELECT names_at FROM zones WHERE number = ${zone.number}) AND owner > ${after} ORDER BY owner LIMIT ${limit}`;
      return (await read<SignedNameRow>(rows)).map(signedNameFromRow);
    },
    signedZones: async (after, limit) => {
      const numbers = sql`SELECT DISTINCT zone FROM signing_keys WHERE zone > ${after} ORDER BY zone LIMIT ${limit}`;
      const rows = sql`SELECT * FROM zones WHERE number IN (${numbers}) ORDER BY number`;
      return (await read<ZoneRow>(rows)).map(zoneFromRow);
    },
    expiringNames: async (before, limit, except = []) => {
      // CROSS: SQLite must begin with the index of expiry times.
      const rows = sql`SELECT number AS zone, owner, expires FROM signed_names CROSS JOIN zones
        WHERE expires < ${Math.floor(before / 1000)} AND names_at = signed_names.zone AND NOT (${anyOf(sql`number`, except)})
        ORDER BY expires LIMIT ${limit}`;
      const found = Map.groupBy(await read<ExpiringRow>(rows), ({ zone }) => Number(zone));
      if (found.size === 0) return [];
      const zones = await read<ZoneRow>(sql`SELECT * FROM zones WHERE ${anyOf(sql`number`, [...found.keys()])}`);
      return zones.map(zoneFromRow).map((zone) => {
        const names = found.get(zone.number) ?? [];
        return { zone, owners: names.map(({ owner }) => owner), first: Number(names[0]?.expires ?? 0) * 1000 };
      });
    },
    sealedKeys: (zone) =>
      read<SealedKey>(sql`SELECT id, sealed FROM signing_keys WHERE zone = ${zone.number} ORDER BY id`),
  };
}

type ExpiringRow = { readonly zone: number; readonly owner: string; readonly expires: number };
