import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { builtProgram } from "../../../test/rig/bundle.ts";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { node } from "../../../test/rig/namespace.ts";
import { fillStore } from "../../../test/rig/records/filled-store.ts";
import { startProcess } from "../../../test/rig/started-process.ts";
import { until } from "../../../test/rig/until.ts";
import { openSqliteStore } from "../../records/store/sqlite/store.ts";
import { runMoor } from "../program.ts";

let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-stopped-"));
  mkdirSync(join(folder, "data"));
  for (const name of ["data/records.sqlite", "b.sqlite"]) {
    const store = openSqliteStore(join(folder, name));
    await fillStore(store);
    store.close();
  }
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const cases: [words: string, says: string][] = [
  ["store backup new.sqlite --data data", "No backup was written."],
  ["store check --data data", "The store was checked only in part."],
  ["store restore b.sqlite --data data --move-aside", "Nothing was changed."],
  ["store copy data c.sqlite", "Nothing was copied."],
];
it.each(cases)("moor %s ends on a signal, and says what it leaves", async (words, says) => {
  const stop = new AbortController();
  const { io, printed } = openTerminal(folder, stop.signal);
  const before = readFileSync(join(folder, "data", "records.sqlite"));
  // As a signal to the process: seen in the next turn of the event loop.
  const atFirstTurn = setImmediate(() => stop.abort(new Error("stopped by SIGINT")));
  const code = await runMoor(words.split(" "), io);
  clearImmediate(atFirstTurn);
  expect({ code, ...printed }).toEqual({ code: 1, out: "", err: `moor: stopped by SIGINT. ${says}\n` });
  expect(readdirSync(folder)).toEqual(["b.sqlite", "data"]);
  expect(readdirSync(join(folder, "data"))).toEqual(["records.sqlite"]);
  expect(readFileSync(join(folder, "data", "records.sqlite"))).toEqual(before);
});

function addManyRows(): void {
  const database = new DatabaseSync(join(folder, "data", "records.sqlite"));
  database.exec(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)
      INSERT INTO departed_zones (name, serial) SELECT 'n' || i || '.example.com', i FROM n`,
  );
  database.close();
}

const start = (words: string) => startProcess([node, builtProgram(), ...words.split(" ")], { cwd: folder });

it("a copy of many rows stops on SIGTERM, and leaves nothing behind", async () => {
  addManyRows();
  const copying = start("store copy data c.sqlite");
  const isBegun = () => readdirSync(folder).some((name) => /^\.c\.sqlite\.draft-[0-9a-f]+$/.test(name));
  await until(isBegun, { what: () => `the copy: ${copying.err()}`, every: 5 });
  const ended = await copying.stop("SIGTERM");
  expect({ code: ended.code, out: ended.out }).toEqual({ code: 1, out: "" });
  expect(ended.err).toMatch(/moor: stopped by SIGTERM\. Nothing was copied/);
  expect(readdirSync(folder)).toEqual(["b.sqlite", "data"]);
});

it("the files of a killed backup are removed by the next one to the same folder", async () => {
  addManyRows();
  const backup = start("store backup one.sqlite --data data");
  const drafts = () =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /^\.one\..*\/draft$/.test(name));
  await until(() => drafts().length > 0, { what: () => `the backup: ${backup.err()}`, every: 5 });
  await backup.stop("SIGKILL");
  expect(drafts()).toHaveLength(1);
  const { io } = openTerminal(folder);
  expect(await runMoor("store backup two.sqlite --data data".split(" "), io)).toBe(0);
  expect(readdirSync(folder).toSorted()).toEqual(["b.sqlite", "data", "two.sqlite"]);
});
