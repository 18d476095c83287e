import { allOf, type Sql, type SqlText, sql } from "../../../lib/sqlite/sql.ts";
import type { LoggedChange, Zone } from "../../model.ts";
import type { ChangeMatch, HistoryQuery, LoggedWrite, RecordStore } from "../port.ts";
import { type ChangeRow, changeFromRow } from "../rows.ts";

type SqlHistory = Pick<RecordStore, "historyOf" | "logOf" | "writesOf" | "precedingInWrite">;

/** One zone's part of the log, by the index on zone and position. */
export function createSqlHistory({ dialect, read }: Sql): SqlHistory {
  const { asJson, contains } = dialect;

  const matching = ({ owner, isWholeOwner, type, actor }: ChangeMatch, of: Columns): readonly SqlText[] => [
    ...(owner === undefined ? [] : [isWholeOwner ? sql`${of.owner} = ${owner}` : contains(of.owner, owner)]),
    ...(type === undefined ? [] : [sql`${of.type} = ${type}`]),
    ...(actor === undefined ? [] : [contains(sql`actor`, actor)]),
  ];
  const change = asJson(sql`change`);
  const inJson = { owner: sql`(${change} ->> 'owner')`, type: sql`(${change} ->> 'type')` };

  const logOf = async (
    zone: Zone,
    { before, from, serial, match = {}, limit }: HistoryQuery,
    more: readonly SqlText[] = [],
  ) => {
    const filters = [sql`zone = ${zone.number}`, ...more];
    if (before !== undefined) filters.push(sql`position < ${before}`);
    if (from !== undefined) filters.push(sql`position >= ${from}`);
    if (serial !== undefined) filters.push(sql`serial = ${serial}`);
    filters.push(...matching(match, inJson));
    const rows = sql`SELECT * FROM changes WHERE ${allOf(filters)} ORDER BY position DESC LIMIT ${limit}`;
    return (await read<ChangeRow>(rows)).map(changeFromRow);
  };

  return {
    historyOf: async (zone, query) => (await logOf(zone, query, [madeBySomebody])) as LoggedChange[],
    logOf: (zone, query) => logOf(zone, query),
    writesOf: async (zone, { before, window: look, match }) => {
      const filters = [sql`zone = ${zone.number}`, madeBySomebody];
      if (before !== undefined) filters.push(sql`position < ${before}`);
      const looked = sql`SELECT position, serial, at, actor, ${change} ->> 'kind' AS kind, ${inJson.owner} AS owner,
        ${inJson.type} AS type FROM changes WHERE ${allOf(filters)} ORDER BY position DESC LIMIT ${look}`;
      const hit = allOf([sql`1 = 1`, ...matching(match, { owner: sql`owner`, type: sql`type` })]);
      const rows = await read<WriteRow>(sql`
        SELECT serial, max(at) AS at, max(actor) AS actor, max(position) AS newest, min(position) AS oldest,
          max(${oneIf(hit, sql`position`)}) AS hit, sum(${oneIf(sql`kind = 'create'`)}) AS added,
          sum(${oneIf(sql`kind = 'replace'`)}) AS replaced, sum(${oneIf(sql`kind = 'delete'`)}) AS deleted,
          sum(${oneIf(sql`kind = 'settings'`)}) AS settings,
          sum(${oneIf(sql`kind = 'create' AND type = 'SOA'`)}) AS begins
        FROM (${looked}) AS looked GROUP BY serial ORDER BY newest DESC`);
      return rows.map(writeFromRow);
    },
    precedingInWrite: async (zone, { position, serial }) => {
      const earlier = sql`FROM changes WHERE zone = ${zone.number} AND position < ${position}`;
      // The changes of a write are contiguous within its zone, so the scan can stop at the first change of another
      // write.
      const others = sql`SELECT position ${earlier} AND serial <> ${serial} ORDER BY position DESC LIMIT 1`;
      const [count] = await read<{ readonly total: number }>(
        sql`SELECT count(*) AS total ${earlier} AND position > coalesce((${others}), 0)`,
      );
      return Number(count?.total ?? 0);
    },
  };
}

/** Not what is about signatures; the kind comes first in the text. */
export const madeBySomebody = sql`change NOT LIKE '{"kind":"sign%'`;

type Columns = { readonly owner: SqlText; readonly type: SqlText };

const oneIf = (condition: SqlText, value = sql`1`): SqlText => sql`CASE WHEN ${condition} THEN ${value} ELSE 0 END`;

/** PostgreSQL returns sums as text. */
type WriteRow = { readonly actor: string } & {
  readonly [Key in Exclude<keyof LoggedWrite, "actor">]: number | string;
};

const writeFromRow = ({ actor, begins, ...numbers }: WriteRow): LoggedWrite => ({
  actor,
  begins: Number(begins) > 0,
  serial: Number(numbers.serial),
  at: Number(numbers.at),
  newest: Number(numbers.newest),
  oldest: Number(numbers.oldest),
  hit: Number(numbers.hit),
  added: Number(numbers.added),
  replaced: Number(numbers.replaced),
  deleted: Number(numbers.deleted),
  settings: Number(numbers.settings),
});
