import { type Sql, sql } from "../../../lib/sqlite/sql.ts";
import type { AsideStore } from "../aside-store.ts";
import { type ChangeRow, ownersIn, type SetRow, setFromRow } from "../rows.ts";

export const createSqlAsideReads = ({
  dialect: { anyOf },
  read,
}: Pick<Sql, "dialect" | "read">): Pick<AsideStore, "setsOf" | "changedSince"> => ({
  setsOf: async (zone, owners) => {
    const rows = sql`SELECT owner, type, ttl, records, marks FROM rrsets WHERE zone = ${zone.number} AND ${anyOf(sql`owner`, owners)}`;
    return (await read<SetRow>(rows)).map((row) => setFromRow(row, zone));
  },
  changedSince: async (zone, position, limit) => {
    const rows = await read<Pick<ChangeRow, "position" | "change">>(
      sql`SELECT position, change FROM changes WHERE zone = ${zone.number} AND position > ${position} ORDER BY position LIMIT ${limit}`,
    );
    return {
      owners: ownersIn(rows.map(({ change }) => change)),
      position: Number(rows.at(-1)?.position ?? position),
      isAll: rows.length < limit,
    };
  },
});
