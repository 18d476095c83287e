import { type CompiledQuery, type Expression, expressionBuilder, type RawBuilder, type SqlBool, sql } from "kysely";
import type { RRset } from "../../../core/records/rrset.ts";
import type { Zone } from "../../model.ts";
import type { HistoryQuery, LabelTest, Order, Page, RecordStore, SetPageQuery, ZoneQuery } from "../port.ts";
import { changeFromRow, setFromRow, zoneFromRow } from "../rows.ts";
import type { ActionRow, Sql, Tables } from "./tables.ts";

type SqlReads = Pick<RecordStore, "zones" | "setPage" | "actions" | "historyOf" | "restOfWrite">;

/** Reads that are rare enough to be put together when they are asked for. Of `zones` only lists: one of a name has a key. */
export function createSqlReads({ text, run }: Sql): SqlReads {
  const { db, anyOf, contains, asJson, unindexed } = text;

  const page = async <Row, T>(list: PageOf<Row>, fromRow: (row: Row) => T): Promise<Page<T>> => {
    const [[count], rows] = await Promise.all([run(list.count.compile()), run(list.rows.compile())]);
    return { items: rows.map(fromRow), total: Number(count?.total ?? 0) };
  };

  const labelled = (settings: Expression<unknown>, { key, values, not }: LabelTest): Expression<SqlBool> => {
    const has = sql`(${asJson(settings)} -> 'labels' ->> ${key})`;
    if (not && values === undefined) return sql`${has} is null`;
    const one = values === undefined ? sql`true` : not ? sql`not (${anyOf(has, values)})` : anyOf(has, values);
    const holds = sql`${has} is not null and ${one}`;
    // Most zones have no such text at all: that is seen much sooner than their JSON is read.
    const [value, ...others] = not ? [] : (values ?? []);
    const part = value === undefined || others.length > 0 ? `"${key}":` : `"${key}":"${value}"`;
    return sql`(${contains(settings, part)} and ${holds})`;
  };

  const zonesOf = (account: number, { search, within, after, mode, label }: ZoneQuery) => {
    const eb = expressionBuilder<Tables, "zones">();
    // A few names are looked for one by one, and not among all zones of the account.
    const theirs = within === undefined ? eb.ref("account") : unindexed(eb.ref("account"));
    const filters: Expression<SqlBool>[] = [eb(theirs, "=", account)];
    if (search !== undefined) filters.push(contains(eb.ref("name"), search));
    if (within !== undefined) filters.push(anyOf(eb.ref("name"), within));
    if (after !== undefined) filters.push(eb("name", ">", after));
    // In the words of PostgreSQL's index of secondary zones.
    if (mode !== undefined) filters.push(sql`(${asJson(eb.ref("settings"))} ->> 'mode') = ${sql.lit(mode)}`);
    if (label !== undefined) filters.push(labelled(eb.ref("settings"), label));
    return db.selectFrom("zones").where(eb.and(filters));
  };

  const setsOf = (zone: Zone, { owners, types }: SetPageQuery) => {
    const eb = expressionBuilder<Tables, "rrsets">();
    const filters: Expression<SqlBool>[] = [eb("zone", "=", zone.number)];
    if (owners !== undefined) filters.push(anyOf(eb.ref("owner"), owners));
    if (types !== undefined) filters.push(anyOf(eb.ref("type"), types));
    return db.selectFrom("rrsets").where(eb.and(filters));
  };

  return {
    zones: async (account, query) => {
      const { search, within, after, mode, label, order = [], page: at, perPage } = query;
      const filtered = zonesOf(account, query);
      let rows = filtered.selectAll();
      for (const { by, descending } of distinctFields(order)) rows = rows.orderBy(zoneColumns[by], way(descending));
      rows = rows
        .orderBy("number")
        .limit(perPage)
        .offset((at - 1) * perPage);
      const counted = db.selectFrom("zone_counts").where("account", "=", account).select("zones as total");
      const isAll = [search, within, after, mode, label].every((filter) => filter === undefined);
      const count = isAll ? counted : filtered.select(total);
      return await page({ count, rows }, zoneFromRow);
    },

    setPage: async (zone, query) => {
      const { order = [], page: at, perPage } = query;
      const filtered = setsOf(zone, query);
      let rows = filtered.select(["owner", "type", "ttl", "records", "marks"]);
      for (const [column, turned] of setOrder(distinctFields(order))) rows = rows.orderBy(column, way(turned));
      rows = rows.limit(perPage).offset((at - 1) * perPage);
      return await page({ count: filtered.select(total), rows }, (row): RRset => setFromRow(row, zone));
    },

    actions: async (account, query) => {
      const { ids, zone, actor, within, order = [], page: at, perPage } = query;
      const eb = expressionBuilder<Tables, "actions">();
      const filters: Expression<SqlBool>[] = [eb("account", "=", account)];
      if (zone !== undefined) filters.push(eb("zone", "=", zone));
      if (actor !== undefined) filters.push(eb("actor", "=", actor));
      if (ids !== undefined) filters.push(anyOf(eb.ref("id"), ids));
      if (within !== undefined) filters.push(anyOf(eb.ref("zone_name"), within));
      const filtered = db.selectFrom("actions").where(eb.and(filters));
      let rows = filtered.selectAll();
      for (const { by, descending } of distinctFields(order)) rows = rows.orderBy(actionColumns[by], way(descending));
      rows = rows
        .orderBy("id")
        .limit(perPage)
        .offset((at - 1) * perPage);
      return await page({ count: filtered.select(total), rows }, actionFromRow);
    },

    historyOf: async (zone, { before, serial, limit }: HistoryQuery) => {
      let rows = db.selectFrom("changes").selectAll().where("zone", "=", zone.number);
      if (before !== undefined) rows = rows.where("position", "<", before);
      if (serial !== undefined) rows = rows.where("serial", "=", serial);
      return (await run(rows.orderBy("position", "desc").limit(limit).compile())).map(changeFromRow);
    },

    restOfWrite: async (zone, { position, serial }) => {
      const earlier = db.selectFrom("changes").where("zone", "=", zone.number).where("position", "<", position);
      // A write has its place among the others of the zone: behind its first change nothing is looked at.
      const others = earlier.where("serial", "<>", serial).orderBy("position", "desc").limit(1).select("position");
      const [count] = await run(
        earlier.where("position", ">", sql<number>`coalesce((${others}), 0)`).select(total).compile(),
      );
      return Number(count?.total ?? 0);
    },
  };
}

type Compilable<Row> = { readonly compile: () => CompiledQuery<Row> };
type PageOf<Row> = { readonly count: Compilable<{ total: unknown }>; readonly rows: Compilable<Row> };

const total = sql<number>`count(*)`.as("total");
/** A field named again changes nothing. */
const distinctFields = <By extends string>(order: readonly Order<By>[]): readonly Order<By>[] =>
  order.filter(({ by }, i) => order.findIndex((each) => each.by === by) === i);
const way = (descending: boolean) => (descending ? "desc" : "asc");
const zoneColumns = { id: "number", name: "name", created: "created" } as const;
const actionColumns = { id: "id", command: "command", started: "at" } as const;

/** By type when nothing is said, then by name, the zone's own first. */
function setOrder(order: readonly Order<"id" | "name">[]): readonly (readonly [RawBuilder<unknown>, boolean])[] {
  const name = (turned: boolean) => [[sql`owner = '@'`, !turned] as const, [sql`owner`, turned] as const];
  const asked = order.flatMap(({ by, descending }) =>
    by === "id" ? [[sql`owner || '/' || type`, descending] as const] : name(descending),
  );
  return [...asked, ...(order.length === 0 ? [[sql`type`, false] as const] : []), ...name(false), [sql`type`, false]];
}

const actionFromRow = ({ id, zone, zone_name: zoneName, command, at }: ActionRow) => ({
  id,
  zone,
  zoneName,
  command,
  at,
});
