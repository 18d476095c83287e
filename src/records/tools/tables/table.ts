/**
 * A store seen as plain tables, whatever database keeps them: for what goes through all of a store, such as its check, a
 * copy and a backup. Rows are arrays in the order of the table's columns, so the same row has the same JSON everywhere.
 */
export type Tables = {
  /** What people call this database: its path, or its address without a password. */
  readonly name: string;
  /** Rows behind `after` and up to `to`, in the order of `by` (the key when left out), each compared by these columns. */
  readonly read: (table: Table, part: TablePart) => Promise<readonly Row[]>;
  /** The rows with these values in `by` (the key when left out) that are there, in any order. */
  readonly find: (table: Table, keys: readonly Row[], by?: readonly string[]) => Promise<readonly Row[]>;
  readonly count: (table: Table) => Promise<number>;
  /** The last number that was given out for the key of a counted table; 0 for none. Never given out again. */
  readonly lastNumber: (table: Table) => Promise<number>;
  /** What the database itself finds wrong with its pages. */
  readonly damage: () => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
};

/** Of what goes through all of a store, in rows. */
export type ToolProgress = {
  readonly what: "check" | "copy" | "verify";
  readonly done: number;
  readonly total: number;
};

/** To look through what is known, or to take all there is. */
export type TablesUse = "look" | "copy";

/** Each call is one transaction. */
export type WritableTables = Tables & {
  readonly put: (table: Table, rows: readonly Row[]) => Promise<void>;
  readonly remove: (table: Table, keys: readonly Row[]) => Promise<void>;
  /** All rows up to this key, it included. */
  readonly removeUpTo: (table: Table, key: Row) => Promise<void>;
  readonly setLastNumber: (table: Table, last: number) => Promise<void>;
};

export type CopyTarget = {
  readonly tables: WritableTables;
  /** It goes on with a copy that was broken off. */
  readonly goesOn: boolean;
  /** The copy is complete: from now on this is a database like any other. */
  readonly finish: () => Promise<void>;
};

export type Value = string | number | null;
export type Row = readonly Value[];

export type TablePart = {
  readonly by?: readonly string[];
  readonly after?: Row | undefined;
  readonly to?: Row | undefined;
  /** Only rows for which this holds: SQL that both databases understand. */
  readonly where?: string | undefined;
  readonly limit: number;
};

export type Table = {
  readonly name: string;
  readonly columns: readonly Column[];
  /** The first columns that together find one row. */
  readonly keyLength: number;
  /** Its key is a number that the database counts up. */
  readonly counted?: boolean;
};

export type Column = { readonly name: string; readonly kind: "number" | "text" };

export const keyOf = (table: Table, row: Row): Row => row.slice(0, table.keyLength);
export const keyNames = (table: Table): readonly string[] =>
  table.columns.slice(0, table.keyLength).map((column) => column.name);

/** The place of a column in a row. */
export function placeIn(table: Table, column: string): number {
  const place = table.columns.findIndex((each) => each.name === column);
  if (place < 0) throw new Error(`the table ${table.name} has no column ${column}`);
  return place;
}

/** All of a table in the order of `by`, a part at a time. */
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
 * The tables of `sqlite/schema.ts`, in an order in which each row finds those that it refers to. What the database fills in
 * itself is left out: `zones.reversed`.
 */
export const storeTables = {
  accounts: table("accounts", "id#", "name created#", counted),
  tokens: table("tokens", "id#", "account# name hash scope created# revoked# last_used# uses#", counted),
  zones: table("zones", "number#", "id account# name settings serial# record_count# created# modified#", counted),
  departed: table("departed_zones", "name", "serial#"),
  sets: table("rrsets", "zone# owner type", "ttl# records marks"),
  ids: table("record_ids", "id", "zone# owner type"),
  changes: table("changes", "position#", "account# zone# zone_name serial# at# actor change", counted),
  actions: table("actions", "id#", "account# zone# zone_name command at# actor", counted),
  onceKeys: table("once_keys", "actor key", "fingerprint at# outcome"),
  sessions: table("console_sessions", "id#", "hash who source agent created# seen#", counted),
  links: table("console_links", "hash", "who expires#"),
  passwords: table("console_passwords", "account#", "hash changed#"),
  transferKeys: table("transfer_keys", "number#", "name algorithm secret account# scope created# revoked#", counted),
  secrets: table("secrets", "name", "value"),
  secondaryState: table("secondary_state", "zone#", "checked# serial#"),
  grants: table("zone_grants", "id#", "zone# account# name actor created#", counted),
} as const satisfies Readonly<Record<string, Table>>;

export const everyTable: readonly Table[] = Object.values(storeTables);
