import { enclosing } from "../../../core/names/name.ts";
import type { RRset, SetKey } from "../../../core/records/rrset.ts";
import { allOf, type Sql, type SqlText, sql } from "../../../lib/sqlite/sql.ts";
import { type Action, isAboutSigning, type LoggedChange, type Zone } from "../../model.ts";
import type { ActionStatus, Order, Page, RecordStore, SetPageQuery, ZoneFilter } from "../port.ts";
import { type ChangeRow, changeFromRow, type SetRow, setFromRow, type ZoneRow, zoneFromRow } from "../rows.ts";
import { createSqlHistory, madeBySomebody } from "./history.ts";
import { createRunningActions } from "./running-actions.ts";

type SqlReads = Pick<
  RecordStore,
  | "zones"
  | "zonesAfter"
  | "zoneNamed"
  | "zoneHolding"
  | "setPage"
  | "setsAfter"
  | "setKeysAfter"
  | "actions"
  | "startAction"
  | "extendAction"
  | "endAction"
  | "changesAfter"
  | "logAfter"
  | "latestChanges"
> &
  ReturnType<typeof createSqlHistory>;

/** Lists, and parts of the log. A query for a single zone by name goes to `zoneBy` instead. */
export const createSqlReads = (database: Sql, zoneBy: RecordStore["zoneBy"]): SqlReads => ({
  ...zoneLists(database, zoneBy),
  ...setLists(database),
  ...actionLists(database),
  ...logParts(database),
  ...createSqlHistory(database),
  ...createRunningActions(database),
});

function zoneLists(
  { dialect, read }: Sql,
  zoneBy: RecordStore["zoneBy"],
): Pick<SqlReads, "zones" | "zonesAfter" | "zoneNamed" | "zoneHolding"> {
  const { anyOf, contains, asJson, unindexed } = dialect;

  const zonesOf = (account: number, { name, search, within, mode }: ZoneFilter): SqlText => {
    // Look a few names up one by one, rather than scan all zones of the account.
    const isNamed = name !== undefined || within !== undefined;
    const filters = [sql`${isNamed ? unindexed(sql`account`) : sql`account`} = ${account}`];
    if (name !== undefined) filters.push(sql`name = ${name}`);
    if (search !== undefined) filters.push(contains(sql`name`, search));
    if (within !== undefined) filters.push(anyOf(sql`name`, within));
    if (mode !== undefined) {
      // Must match the expression of PostgreSQL's index of secondary zones.
      const its = mode === "secondary" ? sql`'secondary'` : sql`${mode}`;
      filters.push(sql`(${asJson(sql`settings`)} ->> 'mode') = ${its}`);
    }
    return sql`FROM zones WHERE ${allOf(filters)}`;
  };

  return {
    zones: async (account, query) => {
      const { name, search, within, mode, order = [] } = query;
      if (name !== undefined && mode === undefined) {
        const zone = within?.includes(name) === false ? undefined : await zoneBy(account, { name });
        return zone === undefined ? { items: [], total: 0 } : { items: [zone], total: 1 };
      }
      const filtered = zonesOf(account, query);
      const isAll = [name, search, within, mode].every((filter) => filter === undefined);
      const counted = sql`SELECT zones AS total FROM zone_counts WHERE account = ${account}`;
      const rows = sql`SELECT * ${filtered} ORDER BY ${inOrder(order, zoneColumns)}number`;
      return await readPage(read, { ...query, count: isAll ? counted : countOf(filtered), rows }, zoneFromRow);
    },
    zonesAfter: async (account, after, limit, filter) => {
      const rows = sql`SELECT * ${zonesOf(account, filter)} AND name > ${after} ORDER BY name LIMIT ${limit}`;
      return (await read<ZoneRow>(rows)).map(zoneFromRow);
    },
    zoneNamed: async (name) => {
      const [row] = await read<ZoneRow>(sql`SELECT * FROM zones WHERE name = ${name}`);
      return row && zoneFromRow(row);
    },
    zoneHolding: async (name) => {
      const above = anyOf(sql`name`, enclosing(name));
      const [row] = await read<ZoneRow>(sql`SELECT * FROM zones WHERE ${above} ORDER BY length(name) DESC LIMIT 1`);
      return row && zoneFromRow(row);
    },
  };
}

function setLists({ dialect: { anyOf }, read }: Sql): Pick<SqlReads, "setPage" | "setsAfter" | "setKeysAfter"> {
  const setsOf = (zone: Zone, { owners, types }: SetPageQuery): SqlText => {
    const filters = [sql`zone = ${zone.number}`];
    if (owners !== undefined) filters.push(anyOf(sql`owner`, owners));
    if (types !== undefined) filters.push(anyOf(sql`type`, types));
    return sql`FROM rrsets WHERE ${allOf(filters)}`;
  };

  return {
    setPage: async (zone, query) => {
      const filtered = setsOf(zone, query);
      const rows = sql`SELECT ${setColumns} ${filtered} ORDER BY ${setOrder(query.order)}`;
      return await readPage(
        read,
        { ...query, count: countOf(filtered), rows },
        (row: SetRow): RRset => setFromRow(row, zone),
      );
    },
    setsAfter: async (zone, after, limit) => {
      const rows = await read<SetRow>(sql`SELECT ${setColumns} ${partOf(zone, after, limit)}`);
      return rows.map((row) => setFromRow(row, zone));
    },
    setKeysAfter: (zone, after, limit) => read<SetKey>(sql`SELECT owner, type ${partOf(zone, after, limit)}`),
  };
}

const actionLists = ({ dialect: { anyOf }, read }: Sql): Pick<SqlReads, "actions"> => ({
  actions: async (account, query) => {
    const { ids, zone, actor, within, status, now, order = [] } = query;
    const filters = [sql`account = ${account}`];
    if (zone !== undefined) filters.push(sql`zone = ${zone}`);
    if (actor !== undefined) filters.push(sql`actor = ${actor}`);
    if (ids !== undefined) filters.push(anyOf(sql`id`, ids));
    if (within !== undefined) filters.push(anyOf(sql`zone_name`, within));
    if (status !== undefined) filters.push(sql`(${anyOfThese(status.map((each) => isInStatus(each, now)))})`);
    const filtered = sql`FROM actions WHERE ${allOf(filters)}`;
    const rows = sql`SELECT * ${filtered} ORDER BY ${inOrder(order, actionColumns)}id`;
    return await readPage(read, { ...query, count: countOf(filtered), rows }, (row: ActionRow) =>
      actionFromRow(row, now),
    );
  },
});

const logParts = ({ read }: Sql): Pick<SqlReads, "changesAfter" | "logAfter" | "latestChanges"> => ({
  changesAfter: async (position, limit, account) => {
    const filters = [sql`position > ${position}`, madeBySomebody];
    if (account !== undefined) filters.push(sql`account = ${account}`);
    const rows = sql`SELECT * FROM changes WHERE ${allOf(filters)} ORDER BY position LIMIT ${limit}`;
    return (await read<ChangeRow>(rows)).map(changeFromRow) as LoggedChange[];
  },
  logAfter: async (position, limit) => {
    const rows = sql`SELECT * FROM changes WHERE position > ${position} ORDER BY position LIMIT ${limit}`;
    return (await read<ChangeRow>(rows)).map(changeFromRow);
  },
  latestChanges: async (account, { before, limit }) => {
    const filters = [sql`account = ${account}`];
    if (before !== undefined) filters.push(sql`position < ${before}`);
    const rows = sql`SELECT * FROM changes WHERE ${allOf(filters)} ORDER BY position DESC LIMIT ${limit}`;
    const log = (await read<ChangeRow>(rows)).map(changeFromRow);
    const changes = log.filter(({ change }) => !isAboutSigning(change)) as LoggedChange[];
    return { changes, next: log.length < limit ? undefined : log.at(-1)?.position };
  },
});

async function readPage<Row, T>(
  read: Sql["read"],
  { count, rows, page: nth, perPage }: PageOf,
  fromRow: (row: Row) => T,
): Promise<Page<T>> {
  const [[counted], found] = await Promise.all([
    read<{ readonly total: number }>(count),
    read<Row>(sql`${rows} LIMIT ${perPage} OFFSET ${(nth - 1) * perPage}`),
  ]);
  return { items: found.map(fromRow), total: Number(counted?.total ?? 0) };
}

const partOf = (zone: Zone, after: SetKey | undefined, limit: number): SqlText =>
  sql`FROM rrsets WHERE zone = ${zone.number} AND (owner, type) > (${after?.owner ?? ""}, ${after?.type ?? ""})
      ORDER BY owner, type LIMIT ${limit}`;

/** Without LIMIT and OFFSET, which are added per page. */
type PageOf = { readonly count: SqlText; readonly rows: SqlText; readonly page: number; readonly perPage: number };

const countOf = (filtered: SqlText): SqlText => sql`SELECT count(*) AS total ${filtered}`;

const setColumns = sql`owner, type, ttl, records, marks`;
const zoneColumns = { id: sql`number`, name: sql`name`, created: sql`created` };
const actionColumns = { id: sql`id`, command: sql`command`, started: sql`at` };

/** The caller appends a tie-breaker. */
const inOrder = <By extends string>(order: readonly Order<By>[], columns: Readonly<Record<By, SqlText>>): SqlText =>
  distinctFields(order).reduce((text, { by, descending }) => sql`${text}${way(columns[by], descending)}, `, sql``);

const way = (column: SqlText, descending: boolean): SqlText => (descending ? sql`${column} DESC` : column);

/** Only the first mention of a field counts. */
const distinctFields = <By extends string>(order: readonly Order<By>[]): readonly Order<By>[] =>
  order.filter(({ by }, i) => order.findIndex((each) => each.by === by) === i);

/** Default: by type, then by name with the apex first. */
function setOrder(order: SetPageQuery["order"] = []): SqlText {
  const byName = (descending: boolean): SqlText =>
    sql`${way(sql`owner = '@'`, !descending)}, ${way(sql`owner`, descending)}, `;
  const orderedFields = distinctFields(order).reduce(
    (text, { by, descending }) =>
      sql`${text}${by === "id" ? sql`${way(sql`owner || '/' || type`, descending)}, ` : byName(descending)}`,
    order.length === 0 ? sql`type, ` : sql``,
  );
  return sql`${orderedFields}${byName(false)}type`;
}

function isInStatus(status: ActionStatus, now: number): SqlText {
  if (status === "running") return sql`running_until >= ${now}`;
  return status === "error"
    ? sql`(error IS NOT NULL OR running_until < ${now})`
    : sql`(error IS NULL AND running_until IS NULL)`;
}

const anyOfThese = (conditions: readonly SqlText[]): SqlText =>
  conditions.reduce((before, condition) => sql`${before} OR ${condition}`, sql`1 = 0`);

type ActionRow = Pick<Action, "id" | "zone" | "command" | "at"> & {
  readonly zone_name: string;
  readonly running_until: number | null;
  readonly finished: number | null;
  readonly error: string | null;
};

function actionFromRow(row: ActionRow, now: number): Action {
  const { id, zone, zone_name: zoneName, command, at } = row;
  const action = { id, zone, zoneName, command, at };
  if (row.running_until === null && row.error === null)
    return row.finished === null ? action : { ...action, finished: row.finished };
  if (row.running_until !== null && row.running_until >= now) return { ...action, status: "running" };
  const finished = row.finished ?? row.running_until ?? at;
  return { ...action, status: "error", finished, error: row.error ?? interrupted };
}

const interrupted = "the service was stopped before this was finished, so nothing was changed; send the request again";
