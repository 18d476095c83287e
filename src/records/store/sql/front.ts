import { isObject } from "../../../core/is-object.ts";
import type { RecordType } from "../../../core/rdata/table.ts";
import type { SetKey } from "../../../core/records/rrset.ts";
import { type Sql, type SqlText, sql } from "../../../lib/sqlite/sql.ts";
import type {
  OpenRequest,
  PublishedContent,
  PublishedSet,
  PublishedSetChange,
  PublishedZone,
  StoredProvider,
} from "../../model.ts";
import type { FrontStore, TroubledSets } from "../front-store.ts";
import { type ZoneRow, zoneFromRow } from "../rows.ts";

/** Rows per statement. */
const mostRows = 2_000;

export function createSqlFront(on: Sql): FrontStore {
  return { ...providerStore(on), ...zoneStore(on), ...setStore(on), ...actionStore(on) };
}

type ProviderStore = Pick<FrontStore, "addProvider" | "providers" | "replaceProviderToken" | "removeProvider">;

const providerStore = ({ read, write }: Sql): ProviderStore => ({
  addProvider: async ({ account, name, kind, url, ca = null, sealed, created }) => {
    const [row] = await write<ProviderRow>(
      sql`INSERT INTO provider_accounts (account, name, kind, url, ca, sealed, created, replaced)
          VALUES (${account}, ${name}, ${kind}, ${url}, ${ca}, ${sealed}, ${created}, ${created})
          ON CONFLICT DO NOTHING RETURNING *`,
    );
    return row === undefined ? "name-taken" : providerFromRow(row);
  },
  providers: async (account) => {
    const its = account === undefined ? sql`` : sql`WHERE account = ${account}`;
    return (await read<ProviderRow>(sql`SELECT * FROM provider_accounts ${its} ORDER BY id`)).map(providerFromRow);
  },
  replaceProviderToken: async (id, sealed, now) => {
    const replaced = sql`UPDATE provider_accounts SET sealed = ${sealed}, replaced = ${now} WHERE id = ${id} RETURNING id`;
    return (await write(replaced)).length === 1;
  },
  removeProvider: async (id) =>
    (await write(sql`DELETE FROM provider_accounts WHERE id = ${id} RETURNING id`)).length === 1,
});

type ProviderRow = Omit<StoredProvider, "ca"> & { readonly ca: string | null };

const providerFromRow = ({ ca, ...row }: ProviderRow): StoredProvider => ({ ...row, ca: ca ?? undefined });

type ZoneStore = Pick<
  FrontStore,
  "publishedZones" | "unsettledZones" | "publishedZone" | "beginPublishing" | "notePublishedZone" | "forgetPublished"
>;

const notedZones = sql`SELECT zones.*, through, waiting, published_zones.ttl, read_at, trouble, trouble_since
  FROM published_zones JOIN zones ON zones.number = published_zones.zone`;

const zoneStore = ({ read, write }: Sql): ZoneStore => ({
  publishedZones: async (account) => {
    const its = account === undefined ? sql`` : sql`WHERE account = ${account}`;
    const rows = await read<ZoneRow & NotedRow>(sql`${notedZones} ${its} ORDER BY zones.name`);
    return rows.map((row) => [zoneFromRow(row), noteFromRow(row)]);
  },
  unsettledZones: async (account, writtenBefore, limit) => {
    const rows = await read<ZoneRow & NotedRow>(
      sql`${notedZones} WHERE account = ${account} AND (trouble IS NOT NULL
          OR (waiting > 0 AND modified < ${writtenBefore})
          OR EXISTS (SELECT 1 FROM published_sets WHERE published_sets.zone = published_zones.zone
            AND (theirs IS NOT NULL OR refused IS NOT NULL)))
          ORDER BY zones.name LIMIT ${limit}`,
    );
    return rows.map((row) => [zoneFromRow(row), noteFromRow(row)]);
  },
  publishedZone: async (zone) => {
    const [row] = await read<NotedRow>(sql`SELECT * FROM published_zones WHERE zone = ${zone}`);
    return row && noteFromRow(row);
  },
  beginPublishing: async (zone, { through, waiting, ttl = null, readAt }) => {
    const begun = await write(
      sql`INSERT INTO published_zones (zone, through, waiting, ttl, read_at)
          VALUES (${zone}, ${through}, ${waiting}, ${ttl}, ${readAt}) ON CONFLICT DO NOTHING RETURNING zone`,
    );
    return begun.length === 1;
  },
  notePublishedZone: async (zone, note) => {
    const parts: SqlText[] = [];
    if (note.through !== undefined) parts.push(sql`through = ${note.through}`);
    if (note.waiting !== undefined) parts.push(sql`waiting = ${note.waiting}`);
    if ("ttl" in note) parts.push(sql`ttl = ${note.ttl ?? null}`);
    if (note.readAt !== undefined) parts.push(sql`read_at = ${note.readAt}`);
    if ("trouble" in note)
      parts.push(sql`trouble = ${note.trouble?.text ?? null}, trouble_since = ${note.trouble?.since ?? null}`);
    if (parts.length === 0) return;
    const all = parts.reduce((before, part) => sql`${before}, ${part}`);
    await write(sql`UPDATE published_zones SET ${all} WHERE zone = ${zone}`);
  },
  forgetPublished: async (zone) => {
    await write(sql`DELETE FROM published_zones WHERE zone = ${zone}`);
  },
});

type NotedRow = {
  readonly through: number;
  readonly waiting: number;
  readonly ttl: number | null;
  readonly read_at: number;
  readonly trouble: string | null;
  readonly trouble_since: number | null;
};

const noteFromRow = ({ through, waiting, ttl, read_at, trouble, trouble_since }: NotedRow): PublishedZone => ({
  through,
  waiting,
  ttl: ttl ?? undefined,
  readAt: read_at,
  trouble: trouble === null ? undefined : { text: trouble, since: trouble_since ?? 0 },
});

type SetStore = Pick<
  FrontStore,
  "publishedSetsAfter" | "publishedSetsAt" | "putPublishedSets" | "replacePublishedSets" | "knownSets" | "troubledSets"
>;

const setStore = (on: Sql): SetStore => ({ ...setReads(on), ...setWrites(on) });

const setReads = ({ dialect: { anyOf }, read }: Sql): Omit<SetStore, keyof SetWrites> => ({
  publishedSetsAfter: async (zone, after, limit) => {
    const { owner = "", type = "" } = after ?? {};
    const rows = await read<PublishedRow>(
      sql`SELECT * FROM published_sets WHERE zone = ${zone} AND (owner, type) > (${owner}, ${type})
          ORDER BY owner, type LIMIT ${limit}`,
    );
    return rows.map(setFromRow);
  },
  publishedSetsAt: async (zone, owners) => {
    const rows = sql`SELECT * FROM published_sets WHERE zone = ${zone} AND ${anyOf(sql`owner`, owners)}`;
    return (await read<PublishedRow>(rows)).map(setFromRow);
  },
  knownSets: async (zones) => {
    const counted = sql`SELECT count(*) AS known FROM published_sets WHERE ${anyOf(sql`zone`, zones)}`;
    const [row] = await read<{ readonly known: number }>(counted);
    return Number(row?.known ?? 0);
  },
  troubledSets: async (zones) => {
    const rows = await read<TroubledSets>(
      sql`SELECT zone, sum(CASE WHEN theirs IS NULL THEN 1 ELSE 0 END) AS refused,
          sum(CASE WHEN theirs IS NULL THEN 0 ELSE 1 END) AS drifted FROM published_sets
          WHERE (theirs IS NOT NULL OR refused IS NOT NULL) AND ${anyOf(sql`zone`, zones)} GROUP BY zone`,
    );
    return rows.map(({ zone, refused, drifted }) => ({ zone, refused: Number(refused), drifted: Number(drifted) }));
  },
});

type SetWrites = Pick<SetStore, "putPublishedSets" | "replacePublishedSets">;

const setWrites = (on: Sql): SetWrites => {
  const {
    dialect: { rowsIn },
    write,
  } = on;
  return {
    putPublishedSets: async (zone, sets) => {
      for (const some of partsOf(sets))
        await write(
          sql`${insertion(zone, rowsIn(some.map(setToRow), columns))}
            ON CONFLICT (zone, owner, type) DO UPDATE SET held = excluded.held, sent = excluded.sent,
            theirs = excluded.theirs, refused = excluded.refused, words = excluded.words, at = excluded.at`,
        );
      await removeUnneeded(on, zone, sets);
    },
    replacePublishedSets: async (zone, changes) => {
      const replaced: SetKey[] = [];
      const fresh = changes.filter(({ before }) => before === undefined).map(({ after }) => after);
      for (const some of partsOf(fresh)) {
        const rows = rowsIn(some.map(setToRow), columns);
        const created = sql`${insertion(zone, rows)} ON CONFLICT DO NOTHING RETURNING owner, type`;
        replaced.push(...(await write<SetKey>(created)));
      }
      for (const some of partsOf(changes.flatMap(changedRow))) {
        // Materialized, so that SQLite looks up each row, instead of the given rows for each row of the zone.
        const updated = sql`WITH given AS MATERIALIZED (SELECT * FROM ${rowsIn(some, changedColumns)} AS rows)
            UPDATE published_sets SET held = given.held, sent = given.sent, theirs = given.theirs,
          refused = given.refused, words = given.words, at = given.at FROM given
          WHERE published_sets.zone = ${zone} AND published_sets.owner = given.owner
          AND published_sets.type = given.type AND published_sets.held = given.was_held
          AND published_sets.at = given.was_at AND published_sets.sent IS NOT DISTINCT FROM given.was_sent
          AND published_sets.theirs IS NOT DISTINCT FROM given.was_theirs
          AND published_sets.refused IS NOT DISTINCT FROM given.was_refused
          RETURNING published_sets.owner, published_sets.type`;
        replaced.push(...(await write<SetKey>(updated)));
      }
      await removeUnneeded(
        on,
        zone,
        changes.map(({ after }) => after),
      );
      return replaced;
    },
  };
};

/** Into a zone that is published. */
const insertion = (zone: number, rows: SqlText): SqlText =>
  sql`INSERT INTO published_sets (zone, owner, type, held, sent, theirs, refused, words, at)
      SELECT cast(${zone} as bigint), owner, type, held, sent, theirs, refused, words, at FROM ${rows} AS given
      WHERE EXISTS (SELECT 1 FROM published_zones WHERE zone = ${zone})`;

/** Rows that say no more than a missing one would. */
async function removeUnneeded({ dialect: { anyOf }, write }: Sql, zone: number, sets: readonly PublishedSet[]) {
  for (const owners of partsOf(sets.filter(isUnneeded).map(({ owner }) => owner)))
    await write(
      sql`DELETE FROM published_sets WHERE zone = ${zone} AND ${anyOf(sql`owner`, owners)}
          AND held = 'null' AND sent IS NULL AND theirs IS NULL AND refused IS NULL`,
    );
}

function* partsOf<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < all.length; from += mostRows) yield all.slice(from, from + mostRows);
}

const isUnneeded = ({ held, sent, theirs, refused }: PublishedSet): boolean =>
  held === null && sent === undefined && theirs === undefined && refused === undefined;

const columns = {
  owner: "text",
  type: "text",
  held: "text",
  sent: "text",
  theirs: "text",
  refused: "text",
  words: "text",
  at: "bigint",
} as const;

const changedColumns = {
  ...columns,
  was_held: "text",
  was_sent: "text",
  was_theirs: "text",
  was_refused: "text",
  was_at: "bigint",
} as const;

function changedRow({ before, after }: PublishedSetChange): readonly object[] {
  if (before === undefined) return [];
  const { held, sent, theirs, refused, at } = setToRow(before);
  const was = { was_held: held, was_sent: sent, was_theirs: theirs, was_refused: refused, was_at: at };
  return [{ ...setToRow(after), ...was }];
}

type PublishedRow = {
  readonly owner: string;
  readonly type: string;
  readonly held: string;
  readonly sent: string | null;
  readonly theirs: string | null;
  readonly refused: string | null;
  readonly words: string | null;
  readonly at: number;
};

const setToRow = ({ owner, type, held, wasProxied, sent, theirs, refused, at }: PublishedSet): PublishedRow => ({
  owner,
  type,
  // A set that is gone and was proxied has nothing else.
  held: JSON.stringify(held ?? (wasProxied ? { proxied: wasProxied } : null)),
  sent: sent === undefined ? null : JSON.stringify(sent),
  theirs: textOf(theirs),
  refused: textOf(refused?.content),
  words: refused?.words ?? null,
  at,
});

const textOf = (content: PublishedSet["theirs"]): string | null =>
  content === undefined ? null : JSON.stringify(content);

function setFromRow({ owner, type, held, sent, theirs, refused, words, at }: PublishedRow): PublishedSet {
  const heldThere = contentIn(held);
  const isThere = heldThere?.values !== undefined;
  return {
    owner,
    type: type as RecordType,
    held: isThere ? heldThere : null,
    ...(!isThere && heldThere?.proxied && { wasProxied: true }),
    sent: sent === null ? undefined : (JSON.parse(sent) as readonly OpenRequest[]),
    theirs: theirs === null ? undefined : theirsIn(theirs),
    refused: refused === null ? undefined : { content: contentIn(refused), words: words ?? "" },
    at,
  };
}

const contentIn = (text: string): PublishedContent | null => JSON.parse(text) as PublishedContent | null;

function theirsIn(text: string): NonNullable<PublishedSet["theirs"]> | null {
  const read: unknown = JSON.parse(text);
  return isObject(read) && typeof read.unreadable === "string" ? { unreadable: read.unreadable } : contentIn(text);
}

const actionStore = ({
  dialect: { anyOf },
  read,
  write,
}: Sql): Pick<FrontStore, "publishingSerials" | "endPublishing" | "endStrayPublishing"> => ({
  publishingSerials: async (zone) => {
    const rows = await read<{ readonly publishes: number }>(
      sql`SELECT DISTINCT publishes FROM actions
          WHERE zone = ${zone} AND publishes IS NOT NULL AND running_until IS NOT NULL ORDER BY publishes`,
    );
    return rows.map(({ publishes }) => publishes);
  },
  endStrayPublishing: async (now, error) => {
    await write(
      sql`UPDATE actions SET running_until = NULL, finished = ${now}, error = ${error} WHERE publishes IS NOT NULL
          AND running_until IS NOT NULL AND zone NOT IN (SELECT zone FROM published_zones)`,
    );
  },
  endPublishing: async (zone, serials, now, error) => {
    if (serials.length === 0) return;
    await write(
      sql`UPDATE actions SET running_until = NULL, finished = ${now}, error = ${error ?? null}
          WHERE zone = ${zone} AND ${anyOf(sql`publishes`, serials)} AND publishes IS NOT NULL AND running_until IS NOT NULL`,
    );
  },
});
