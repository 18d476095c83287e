import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { patience } from "../../../test/rig/patience.ts";
import { dropZone } from "../../../test/rig/records/drop-zone.ts";
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

async function copy(stop?: (done: number) => boolean): Promise<CopyOutcome> {
  const [source, target] = [readSqliteTables(from), writeSqliteTables(to)];
  const end = new AbortController();
  const tell = ({ done }: { readonly done: number }) => {
    if (stop?.(done)) end.abort(new Error("stopped"));
  };
  try {
    return await copyTables(source, target, { tell, signal: end.signal });
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

  it.each([1, 3, 20, 30])("resumes after an interruption at row %i", async (row) => {
    await expect(copy((done) => done >= row)).rejects.toThrow("stopped");
    expect((await copy()).kind).toBe("done");
    expect(contentOf(to)).toEqual(contentOf(from));
  });

  it("resumes even if the original changed meanwhile: deleted rows are removed, new ones added", async () => {
    await copy();
    const store = openSqliteStore(from);
    const account = await store.ensureAccount("main", 1);
    await dropZone(store, account.id, { name: "example.org" }, 2);
    await fillStore(store, "example.com");
    store.close();
    expect((await copy()).kind).toBe("done");
    expect(contentOf(to)).toEqual(contentOf(from));
  });

  it("is reported as different if something else writes to it", async () => {
    const [source, target] = [readSqliteTables(from), writeSqliteTables(to)];
    const meddling = {
      ...target,
      count: async () => 0,
      setLastNumber: async () => target.remove(storeTables.departed, [["gone.example.org"]]),
    };
    const outcome = await copyTables(source, meddling, {
      tell: () => undefined,
      signal: AbortSignal.timeout(patience),
    });
    expect(outcome).toMatchObject({ kind: "differs", faults: [{ code: "copy-differs", where: "departed_zones" }] });
    await source.close();
    await target.close();
  });
});
