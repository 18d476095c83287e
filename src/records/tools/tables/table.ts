/**
 * A store as plain tables, independent of the database, for tools that go through a whole store: check, copy, backup.
 * Rows are arrays in the order of the table's columns, so the same row has the same JSON everywhere.
 */
export type Tables = {
  /** The name to show to users: the path, or the address without the password. */
  readonly name: string;
  /** Rows after `after` (values of the columns `by`), in the order of these columns (default: the key). */
  readonly read: (table: Table, part: TablePart) => Promise<readonly Row[]>;
  /** The existing rows with these keys, in any order. */
  readonly find: (table: Table, keys: readonly Row[]) => Promise<readonly Row[]>;
  readonly count: (table: Table) => Promise<number>;
  /** The last number that was assigned as key of a counted table; 0 for none. It is never assigned again. */
  readonly lastNumber: (table: Table) => Promise<number>;
  /** What the database's own integrity check finds. */
  readonly damage: () => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
};

/** Progress of a tool that goes through a whole store, in rows. */
export type ToolProgress = {
  readonly what: "check" | "copy" | "verify";
  readonly done: number;
  readonly total: number;
};

/** `look` needs only the tables that this version knows; `copy` needs everything in the database. */
export type TablesUse = "look" | "copy";

/** Each call is one transaction. */
export type WritableTables = Tables & {
  readonly put: (table: Table, rows: readonly Row[]) => Promise<void>;
  /** Removes all rows up to and including this key. */
  readonly removeUpTo: (table: Table, key: Row) => Promise<void>;
  readonly setLastNumber: (table: Table, last: number) => Promise<void>;
};

export type CopyTarget = {
  readonly tables: WritableTables;
  /** Commits the copy; without it, closing leaves the database as it was. */
  readonly finish: () => Promise<void>;
};

export type CellValue = string | number | null;
export type Row = readonly CellValue[];

export type TablePart = {
  readonly by?: readonly string[];
  readonly after?: Row | undefined;
  /** A condition in SQL that both databases understand. */
  readonly where?: string | undefined;
  readonly limit: number;
};

export type Table = {
  readonly name: string;
  readonly columns: readonly Column[];
  /** How many of the first columns are the primary key. */
  readonly keyLength: number;
  /** Its key is a number that the database increments. */
  readonly counted?: boolean;
};

export type Column = { readonly name: string; readonly kind: "number" | "text" };

export const keyOf = (table: Table, row: Row): Row => row.slice(0, table.keyLength);
export const keyNames = (table: Table): readonly string[] =>
  table.columns.slice(0, table.keyLength).map((column) => column.name);

/** The index of a column in a row. */
export function placeIn(table: Table, column: string): number {
  const place = table.columns.findIndex((each) => each.name === column);
  if (place < 0) throw new Error(`the table ${table.name} has no column ${column}`);
  return place;
}

/** Reads a whole table in the order of `by`, in parts. */
export async function* eachPart(
  tables: Pick<Tables, "read">,
  table: Table,
  { by = keyNames(table), where, limit = 1_000 }: Partial<Pick<TablePart, "by" | "where" | "limit">> = {},
): AsyncGenerator<readonly Row[]> {
  const places = by.map((column) => placeIn(table, column));
  for (let after: Row | undefined; ; ) {
    const rows = await tables.read(table, { by, after, where, limit });
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < limit) return;
    after = places.map((place) => last[place] ?? null);
  }
}

/** `name` is text, `name#` a number; the key comes first. */
function table(name: string, key: string, rest: string, more: Pick<Table, "counted"> = {}): Table {
  const column = (text: string): Column => ({
    name: text.replace("#", ""),
    kind: text.endsWith("#") ? "number" : "text",
  });
  const keys = key.split(" ").map(column);
  return { name, columns: [...keys, ...rest.split(" ").map(column)], keyLength: keys.length, ...more };
}

const counted = { counted: true };

/**
 * The tables of `sqlite/schema.ts`, ordered so that a row comes after the rows it refers to. Left out is what
 * triggers fill in: `zones.reversed`.
 */
export const storeTables = {
  accounts: table("accounts", "id#", "name created#", counted),
  tokens: table("tokens", "id#", "account# name hash scope created# revoked# last_used# uses#", counted),
  zones: table(
    "zones",
    "number#",
    "id account# name settings serial# record_count# created# modified# names_at#",
    counted,
  ),
  departed: table("departed_zones", "name", "serial#"),
  sets: table("rrsets", "zone# owner type", "ttl# records marks"),
  ids: table("record_ids", "id", "zone# owner type"),
  changes: table("changes", "position#", "account# zone# zone_name serial# at# actor change", counted),
  actions: table(
    "actions",
    "id#",
    "account# zone# zone_name command at# actor running_until# finished# error publishes#",
    counted,
  ),
  onceKeys: table("once_keys", "actor key", "fingerprint at# outcome"),
  sessions: table(
    "console_sessions",
    "id#",
    "hash who source agent created# seen# role ticket confirmed# asked#",
    counted,
  ),
  passkeys: table("console_passkeys", "id", "who site name public_key counter# created# used#"),
  links: table("console_links", "hash", "who expires#"),
  passwords: table("console_passwords", "account#", "hash changed#"),
  transferKeys: table("transfer_keys", "number#", "name algorithm secret account# scope created# revoked#", counted),
  secrets: table("secrets", "name", "value"),
  secondaryState: table("secondary_state", "zone#", "checked# serial#"),
  signedNames: table("signed_names", "zone# owner", "link expires# children# types made"),
  leftovers: table("leftovers", "number#", "kind since#"),
  signingKeys: table("signing_keys", "id", "zone# sealed"),
  grants: table("zone_grants", "id#", "zone# account# name actor created#", counted),
  providers: table("provider_accounts", "id#", "account# name kind url ca sealed created# replaced#", counted),
  publishedZones: table("published_zones", "zone#", "through# waiting# ttl# read_at# trouble trouble_since#"),
  publishedSets: table("published_sets", "zone# owner type", "held sent theirs refused words at#"),
} as const satisfies Readonly<Record<string, Table>>;

export const everyTable: readonly Table[] = Object.values(storeTables);
