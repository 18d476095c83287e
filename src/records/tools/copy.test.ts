import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { patience } from "../../../test/rig/patience.ts";
import { fillStore } from "../../../test/rig/records/filled-store.ts";
import { openSqliteStore } from "../store/sqlite/store.ts";
import { type CopyOutcome, copyTables } from "./copy.ts";
import { readSqliteTables, writeSqliteTables } from "./tables/sqlite.ts";
import { everyTable, storeTables } from "./tables/table.ts";

let folder: string;
let from: string;
let to: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-copy-"));
  [from, to] = [join(folder, "from.sqlite"), join(folder, "to.sqlite")];
  const store = openSqliteStore(from);
  await fillStore(store);
  store.close();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const quietly = () => ({ tell: () => undefined, signal: AbortSignal.timeout(patience) });

async function copy(): Promise<CopyOutcome> {
  const [source, target] = [readSqliteTables(from), writeSqliteTables(to)];
  try {
    return await copyTables(source, target, quietly());
  } finally {
    await source.close();
    await target.close();
  }
}

/** All rows of all tables, and the last numbers assigned. */
function contentOf(path: string): unknown {
  const database = new DatabaseSync(path);
  const tables = [...everyTable.map(({ name }) => name), "sqlite_sequence"];
  const all = tables.map((name) => [name, database.prepare(`SELECT * FROM ${name} ORDER BY 1, 2`).all()]);
  database.close();
  return Object.fromEntries(all);
}

describe("a copy", () => {
  it("has the same rows and counters, and reports the number of rows per table", async () => {
    const outcome = await copy();
    expect(outcome.kind).toBe("done");
    expect(contentOf(to)).toEqual(contentOf(from));
    const source = readSqliteTables(from);
    const counts = outcome.kind === "done" ? outcome.tables.map(({ table, rows }) => [table, rows]) : [];
    for (const table of everyTable) expect(counts).toContainEqual([table.name, await source.count(table)]);
    expect(await source.count(storeTables.changes)).toBeGreaterThan(10);
    await source.close();
  });

  it("never reuses a number that the original assigned", async () => {
    await copy();
    const [source, target] = [readSqliteTables(from), readSqliteTables(to)];
    expect(await target.lastNumber(storeTables.zones)).toBe(3);
    expect(await target.lastNumber(storeTables.zones)).toBe(await source.lastNumber(storeTables.zones));
    await source.close();
    await target.close();
  });

  it("is reported as different if something else writes to it", async () => {
    const [source, target] = [readSqliteTables(from), writeSqliteTables(to)];
    const meddling = {
      ...target,
      count: async () => 0,
      setLastNumber: async () => target.removeUpTo(storeTables.departed, ["gone.example.org"]),
    };
    const outcome = await copyTables(source, meddling, quietly());
    expect(outcome).toMatchObject({ kind: "differs", faults: [{ code: "copy-differs", where: "departed_zones" }] });
    await source.close();
    await target.close();
  });
});
