import {
  type CellValue,
  keyNames,
  type Row,
  type Table,
  type TablePart,
  type Tables,
  type WritableTables,
} from "./table.ts";

/** A connection to a database, and how its SQL dialect differs. */
export type SqlConnection = {
  readonly name: string;
  readonly all: (text: string, values: readonly CellValue[]) => Promise<readonly Row[]>;
  readonly run: (text: string, values: readonly CellValue[]) => Promise<void>;
  /** The placeholder for a value of a column's kind; `at` counts from 1. */
  readonly mark: (at: number, kind: "number" | "text") => string;
  /** A suffix to a column's name that makes texts compare by bytes. */
  readonly byBytes: string;
  readonly lastNumber: (table: Table) => Promise<number>;
  readonly setLastNumber: (table: Table, last: number) => Promise<void>;
  readonly damage: () => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
};

/** The SQL that both databases share. */
export function tablesOver(connection: SqlConnection): WritableTables {
  const { mark, byBytes, all, run } = connection;
  const columnsOf = (table: Table) => table.columns.map((column) => column.name).join(", ");
  const kindOf = (table: Table, name: string) => table.columns.find((column) => column.name === name)?.kind ?? "text";
  const compared = (table: Table, name: string) => (kindOf(table, name) === "text" ? `${name}${byBytes}` : name);

  const read: Tables["read"] = (table, { by = keyNames(table), after, where, limit }: TablePart) => {
    const values: CellValue[] = [];
    const tuple = by.map((name) => compared(table, name)).join(", ");
    const marks = after && by.map((name, i) => mark(values.push(after[i] ?? null), kindOf(table, name)));
    const bounds = [...(marks ? [`(${tuple}) > (${marks.join(", ")})`] : []), ...(where === undefined ? [] : [where])];
    const wanted = bounds.length === 0 ? "" : `WHERE ${bounds.join(" AND ")} `;
    return all(`SELECT ${columnsOf(table)} FROM ${table.name} ${wanted}ORDER BY ${tuple} LIMIT ${limit}`, values);
  };

  return {
    name: connection.name,
    read,
    find: async (table, keys) => {
      if (keys.length === 0) return [];
      const names = keyNames(table);
      const values: CellValue[] = [];
      const tuples = keys.map(
        (key) => `(${names.map((name, i) => mark(values.push(key[i] ?? null), kindOf(table, name))).join(", ")})`,
      );
      const isAmong = `(${names.join(", ")}) IN (VALUES ${tuples.join(", ")})`;
      return await all(`SELECT ${columnsOf(table)} FROM ${table.name} WHERE ${isAmong}`, values);
    },
    count: async (table) => Number((await all(`SELECT count(*) FROM ${table.name}`, []))[0]?.[0]),
    lastNumber: connection.lastNumber,
    damage: connection.damage,
    close: connection.close,
    put: async (table, rows) => {
      if (rows.length === 0) return;
      const values: CellValue[] = [];
      const marks = rows.map(
        (row) => `(${table.columns.map(({ kind }, i) => mark(values.push(row[i] ?? null), kind)).join(", ")})`,
      );
      await run(`INSERT INTO ${table.name} (${columnsOf(table)}) VALUES ${marks.join(", ")}`, values);
    },
    removeUpTo: async (table, key) => {
      const names = keyNames(table);
      const marks = names.map((name, i) => mark(i + 1, kindOf(table, name)));
      const tuple = names.map((name) => compared(table, name)).join(", ");
      await run(`DELETE FROM ${table.name} WHERE (${tuple}) <= (${marks.join(", ")})`, key);
    },
    setLastNumber: connection.setLastNumber,
  };
}
