import { type Sql, type SqlText, sql } from "../../../lib/sqlite/sql.ts";
import { abandonedAfter, type LeftOver, type Leftovers } from "../leftovers.ts";

type LeftOverRow = { readonly number: number; readonly kind: LeftOver };
type SetRow = { readonly owner: string; readonly type: string; readonly records: string };

/** Rows per step, which is one short transaction. */
const perStep = 200;

export function createSqlLeftovers({ dialect: { anyOf }, read, write }: Sql): Leftovers {
  const removeSets = async (zone: number): Promise<boolean> => {
    const place = sql`FROM rrsets WHERE zone = ${zone} ORDER BY owner, type LIMIT ${perStep}`;
    const sets = await read<SetRow>(sql`SELECT owner, type, records ${place}`);
    const last = sets.at(-1);
    if (last === undefined) return false;
    const ids = sets.flatMap(({ records }) => (JSON.parse(records) as { id: string }[]).map(({ id }) => id));
    await write(sql`DELETE FROM record_ids WHERE ${anyOf(sql`id`, ids)} AND zone = ${zone}`);
    await write(sql`DELETE FROM rrsets WHERE zone = ${zone} AND (owner, type) <= (${last.owner}, ${last.type})`);
    return true;
  };
  const removeNames = async (zone: number): Promise<boolean> => {
    const some = sql`SELECT owner FROM signed_names WHERE zone = ${zone} LIMIT ${perStep}`;
    const gone = sql`DELETE FROM signed_names WHERE zone = ${zone} AND owner IN (${some}) RETURNING owner`;
    return (await write(gone)).length > 0;
  };
  const claim = (now: number): SqlText =>
    sql`UPDATE leftovers SET kind = 'names' WHERE kind = 'ahead' AND since < ${now - abandonedAfter}`;

  return {
    removeLeftovers: async (now) => {
      const stale = sql`SELECT number FROM leftovers WHERE kind = 'ahead' AND since < ${now - abandonedAfter}`;
      if ((await read(stale)).length > 0) await write(claim(now));
      const [left] = await read<LeftOverRow>(
        sql`SELECT number, kind FROM leftovers WHERE kind <> 'ahead' ORDER BY number LIMIT 1`,
      );
      if (left === undefined) return false;
      const { number, kind } = left;
      if (await removeNames(number)) return true;
      if (kind === "zone" && (await removeSets(number))) return true;
      // If the zone itself was deleted meanwhile, its sets are left; another node may have deleted the rows above.
      const more = sql`SELECT 1 FROM signed_names WHERE zone = ${number}`;
      await write(sql`DELETE FROM leftovers WHERE number = ${number} AND kind = ${kind} AND NOT EXISTS (${more})`);
      return true;
    },
  };
}
