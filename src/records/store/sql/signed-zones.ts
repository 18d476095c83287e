import { setImmediate as nextTurn } from "node:timers/promises";
import { type Sql, sql } from "../../../lib/sqlite/sql.ts";
import type { Zone } from "../../model.ts";
import type { EncryptedKey } from "../../signing/signer.ts";
import { type SignedNameRow, signedNameFromRow, type ZoneRow, zoneFromRow } from "../rows.ts";
import type { SignedZones } from "../signed-zones.ts";

/** Names per query. */
const perPage = 500;

export function createSqlSignedZones({ dialect: { anyOf }, read }: Sql): SignedZones {
  return {
    signedNames: async (zone, after = "", limit) => {
      const rows = sql`SELECT owner, link, expires, children, types, made FROM signed_names
        WHERE zone = (SELECT names_at FROM zones WHERE number = ${zone.number}) AND owner > ${after} ORDER BY owner LIMIT ${limit}`;
      return (await read<SignedNameRow>(rows)).map(signedNameFromRow);
    },
    // Unless a follower of the log signs, everything is signed in the transaction of the write.
    signed: async () => undefined,
    signedZones: async (after, limit) => {
      const numbers = sql`SELECT DISTINCT zone FROM signing_keys WHERE zone > ${after} ORDER BY zone LIMIT ${limit}`;
      const rows = sql`SELECT * FROM zones WHERE number IN (${numbers}) ORDER BY number`;
      return (await read<ZoneRow>(rows)).map(zoneFromRow);
    },
    expiringNames: async (before, limit, except = []) => {
      const expiringByZone = new Map<number, { readonly zone: Zone; readonly names: ExpiringRow[] }>();
      const end = Math.floor(before / 1000);
      let left = limit;
      for (let last: ExpiringRow | undefined; left > 0; ) {
        const { expires = 0, zone = 0, owner = "" } = last ?? {};
        const rows = await read<ExpiringRow>(
          sql`SELECT zone, owner, expires FROM signed_names WHERE expires < ${end}
            AND (expires, zone, owner) > (${expires}, ${zone}, ${owner}) ORDER BY expires, zone, owner LIMIT ${perPage}`,
        );
        const used = anyOf(sql`names_at`, [...new Set(rows.map((row) => Number(row.zone)))]);
        const zones = await read<ZoneRow>(
          sql`SELECT * FROM zones WHERE ${used} AND NOT (${anyOf(sql`number`, except)})`,
        );
        const byNames = new Map(zones.map((row) => [Number(row.names_at), zoneFromRow(row)]));
        for (const row of rows) {
          const its = byNames.get(Number(row.zone));
          if (its === undefined || left === 0) continue;
          left -= 1;
          const namesOfZone = expiringByZone.get(its.number) ?? { zone: its, names: [] };
          namesOfZone.names.push(row);
          expiringByZone.set(its.number, namesOfZone);
        }
        last = rows.at(-1);
        if (rows.length < perPage) break;
        // Many names may be left over, which nobody uses: the loop must not stand still for all of them.
        await nextTurn();
      }
      return [...expiringByZone.values()].map(({ zone, names }) => ({
        zone,
        owners: names.map(({ owner }) => owner),
        first: Number(names[0]?.expires ?? 0) * 1000,
      }));
    },
    encryptedKeys: (zone) =>
      read<EncryptedKey>(sql`SELECT id, sealed AS encrypted FROM signing_keys WHERE zone = ${zone.number} ORDER BY id`),
  };
}

type ExpiringRow = { readonly zone: number; readonly owner: string; readonly expires: number };
