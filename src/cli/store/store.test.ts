import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { patience } from "../../../test/rig/patience.ts";
import { fillStore } from "../../../test/rig/records/filled-store.ts";
import { openSqliteStore } from "../../records/store/sqlite/store.ts";
import { runMoor } from "../program.ts";
import { readKeepHistory } from "../records/keep-history-option.ts";
import { showProgress } from "./progress.ts";

let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-store-verbs-"));
  mkdirSync(join(folder, "data"));
  const store = openSqliteStore(join(folder, "data", "records.sqlite"));
  await fillStore(store);
  store.close();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function moor(words: string) {
  const { io, printed } = openTerminal(folder, AbortSignal.timeout(patience));
  return { code: await runMoor(words.split(" "), io), ...printed };
}

function change(statement: string): void {
  const database = new DatabaseSync(join(folder, "data", "records.sqlite"));
  database.exec(statement);
  database.close();
}

describe("a command that fails says why, and what to do", () => {
  const cases: [words: string, code: number, says: RegExp][] = [
    ["store backup data/records.sqlite --data data", 1, /already exists; give a new file/],
    ["store backup no/such/b.sqlite --data data", 1, /the folder .*no\/such does not exist; create it/],
    ["store backup text/b.sqlite --data data", 1, /text is not a folder; choose another place/],
    ["store backup b.sqlite --data none", 1, /the file .*none\/records\.sqlite does not exist; correct the path/],
    ["store restore none.sqlite --data data", 1, /the file .*none\.sqlite does not exist/],
    ["store restore text --data data", 1, /text is not a database/],
    ["store restore data --data data", 1, /data is a folder/],
    ["store check --data none", 1, /does not exist/],
    ["store check none.sqlite", 1, /the file .*\/none\.sqlite does not exist; correct the path/],
    ["store check b.sqlite --data data", 2, /give either a file, or the store with --data or --database/],
    [
      "store check b.sqlite --database postgres://u@h/d",
      2,
      /give either a file, or the store with --data or --database/,
    ],
    ["store copy data data", 1, /already exists/],
    ["store copy text new.sqlite", 1, /text is not a database/],
    ["store copy postgres://u@127.0.0.1:1/x new.sqlite", 1, /postgres:\/\/u@127\.0\.0\.1:1\/x cannot be used/],
    ["store copy data", 2, /missing required argument 'to'/],
    ["store compact --keep-history soon --data data", 2, /a time such as 400d, 26w or 2y, or forever/],
    ["records --keep-history 0d", 2, /a time such as 400d/],
    ["store chekc", 2, /Did you mean check\?/],
  ];
  it.each(cases)("moor %s", async (words, code, says) => {
    writeFileSync(join(folder, "text"), "no database".repeat(1_000));
    const ended = await moor(words);
    expect(ended.err).toMatch(says);
    expect({ code: ended.code, out: ended.out }).toEqual({ code, out: "" });
  });
});

describe("moor store", () => {
  it("backup, restore and check work together", async () => {
    expect(await moor("store check --data data")).toMatchObject({ code: 0, err: "" });
    const backup = await moor("store backup b.sqlite --data data");
    expect(backup.out).toMatch(
      /^b\.sqlite: \d+\.\d MB, 2 zones, \d+ records and \d+ changes, up to change \d+; checked\.\n$/,
    );
    expect(await moor("store check b.sqlite")).toMatchObject({
      code: 0,
      out: expect.stringMatching(/b\.sqlite has no faults/),
    });
    expect(await moor("store restore b.sqlite --data data")).toMatchObject({ code: 1, out: "" });
    const restored = await moor("store restore b.sqlite --data data --move-aside");
    expect(restored.out).toMatch(
      /^Restored b\.sqlite to .*: 2 zones.*\nThe old store was renamed to .*before-restore-/,
    );
    expect(await moor("store restore b.sqlite --data other")).toMatchObject({ code: 0, err: "" });
    expect(await moor("store check --data other")).toMatchObject({ code: 0, err: "" });
  });

  it("check of a damaged backup does not suggest restoring a backup", async () => {
    change("UPDATE zones SET record_count = record_count + 1");
    const { code, err } = await moor("store check data/records.sqlite");
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/\/records\.sqlite has 2 faults\.\n$/) });
  });

  it("check lists every fault, with what to do", async () => {
    change("UPDATE zones SET record_count = record_count + 1");
    const { code, out, err } = await moor("store check --data data");
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err.split("\n")).toEqual([
      expect.stringMatching(/^zone example\.org: its stored number of records is \d+, but it has \d+; restore/),
      expect.stringMatching(/^zone again\.example\.org: its stored number of records is /),
      expect.stringMatching(/records\.sqlite has 2 faults\.$/),
      "To restore a backup: moor store restore --data data --move-aside FILE",
      "",
    ]);
  });

  it("copy leaves one file, which only its owner can read", async () => {
    const { code, out, err } = await moor("store copy data c.sqlite");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/zones +2 +[0-9a-f]{16}\n/);
    expect(readdirSync(folder).filter((name) => name.includes("c.sqlite"))).toEqual(["c.sqlite"]);
    expect(statSync(join(folder, "c.sqlite")).mode & 0o777).toBe(0o600);
  });

  it("an interrupted copy leaves nothing behind", async () => {
    const before = readdirSync(folder);
    const { io, printed } = openTerminal(folder, AbortSignal.abort(new Error("stopped")));
    expect(await runMoor(["store", "copy", "data", "c.sqlite"], io)).toBe(1);
    expect(printed.err).toBe("moor: stopped. Nothing was copied.\n");
    expect(readdirSync(folder)).toEqual(before);
    expect(await moor("store copy data/records.sqlite c.sqlite")).toMatchObject({ code: 0 });
  });

  it("copy does not use the log file of another database, and keeps it", async () => {
    writeFileSync(join(folder, "c.sqlite-wal"), "what was written last");
    const { code, err } = await moor("store copy data c.sqlite");
    const kept = /c\.sqlite-wal existed without its database; it was renamed to (.*)\n$/.exec(err)?.[1] ?? "";
    expect({ code, kept: readFileSync(kept, "utf8") }).toEqual({ code: 0, kept: "what was written last" });
    expect(existsSync(join(folder, "c.sqlite-wal"))).toBe(false);
  });

  it("compact drops no history without --keep-history: the service may keep it forever", async () => {
    change("UPDATE changes SET at = at - 500 * 86400000 WHERE position < 15");
    const ended = await moor("store compact --data data");
    expect(ended).toMatchObject({
      code: 0,
      err: "",
      out: expect.stringMatching(/^No changes were dropped[\s\S]*less/),
    });
    const store = openSqliteStore(join(folder, "data", "records.sqlite"));
    expect((await store.changesAfter(0, 1))[0]?.position).toBe(1);
    store.close();
  });

  it("compact drops old changes, and returns space to the disk if nobody else has the file open", async () => {
    change("UPDATE changes SET at = at - 500 * 86400000 WHERE position < 15");
    const store = openSqliteStore(join(folder, "data", "records.sqlite"));
    const first = await moor("store compact --data data --keep-history 400d");
    expect(first.out).not.toMatch(/^Dropped 0 changes/);
    expect(first.err).toMatch(/is in use.*stop the service and run this again/);
    expect((await store.changesAfter(0, 1))[0]?.position).toBeGreaterThan(1);
    store.close();
    const second = await moor("store compact --data data --keep-history forever");
    expect(second).toMatchObject({
      code: 0,
      err: "",
      out: expect.stringMatching(/^Dropped 0 changes[\s\S]*less than before/),
    });
    expect(await moor("store check --data data")).toMatchObject({ code: 0 });
  });
});

describe("--keep-history", () => {
  it.each([
    ["400d", 400 * 86_400_000],
    ["12h", 12 * 3_600_000],
    ["2y", 2 * 365 * 86_400_000],
    ["forever", Number.POSITIVE_INFINITY],
  ])("%s", (text, length) => expect(readKeepHistory(text)).toBe(length));
  it.each(["", "0d", "5", "1.5d", "-1d", "400 d", "99999999d"])("not %j", (text) =>
    expect(() => readKeepHistory(text)).toThrow(/must be a time/),
  );
});

describe("progress", () => {
  const shown = (isTerminal: boolean) => {
    let time = 0;
    const said: string[] = [];
    const io = { program: "", env: {}, cwd: "", signal: AbortSignal.timeout(1), out: () => undefined, isTerminal };
    const progress = showProgress({ ...io, err: (text) => void said.push(text) }, () => time);
    for (let done = 0; done <= 100; done += 10) {
      time += 1_000;
      progress.tell({ what: "copy", done, total: 100 });
    }
    progress.end();
    return said.join("");
  };

  it("is a bar on a terminal, and is erased at the end", () => {
    expect(shown(true)).toContain("\rcopy [###############---------------]  50%");
    expect(shown(true)).toMatch(/100%\r +\r$/);
  });

  it("is a line every few seconds elsewhere", () => {
    expect(shown(false)).toBe("copy: 40%, 40 of 100 rows\ncopy: 90%, 90 of 100 rows\n");
  });
});
