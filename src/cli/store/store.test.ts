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
    ["export data --data data", 1, /is not empty; give a new folder/],
    ["export new --data data --account mian", 1, /no account mian; did you mean main\?/],
    ["import none --data data", 1, /manifest\.json: the file does not exist; use a folder that moor export wrote/],
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
    change("UPDATE zones SET record_count = record_count + 1; UPDATE actions SET account = 7 WHERE id = 1");
    const { code, out, err } = await moor("store check --data data");
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err.split("\n")).toEqual([
      expect.stringMatching(/^action 1: it belongs to account 7, which does not exist; restore/),
      expect.stringMatching(/^zone example\.org: its stored number of records is \d+, but it has \d+; restore/),
      expect.stringMatching(/^zone again\.example\.org: its stored number of records is /),
      expect.stringMatching(/records\.sqlite has 3 faults\.$/),
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

describe("moor export and import", () => {
  it("an export, imported and exported again, gives the same files, readable only by their owner", async () => {
    expect(await moor("export one --data data")).toMatchObject({ code: 0, err: "" });
    const imported = await moor("import one --data fresh --account other --tokens secrets");
    expect(imported).toMatchObject({ code: 0, err: "" });
    expect(imported.out).toMatch(/Imported into the account other: 2 zones created/);
    expect(readFileSync(join(folder, "secrets"), "utf8")).toMatch(/^\w{32} a token\n$/);
    expect(await moor("export two --data fresh --account other")).toMatchObject({ code: 0 });
    const files = (of: string) =>
      ["manifest.json", ...readdirSync(join(folder, of, "zones")).map((name) => join("zones", name))].map((name) => [
        name,
        readFileSync(join(folder, of, name), "utf8"),
      ]);
    expect(files("two")).toEqual(files("one"));
    expect(files("one")).toHaveLength(3);
    for (const path of ["one/manifest.json", "one/zones/example.org.zone", "secrets"])
      expect(statSync(join(folder, path)).mode & 0o777).toBe(0o600);
    expect(await moor("store check --data fresh")).toMatchObject({ code: 0 });
  });

  it("tokens are created by the second import that the first one proposes", async () => {
    await moor("export one --data data");
    const [, proposed] =
      /These tokens were not created: a token; to create them, run the import again with (.*) FILE\n/.exec(
        (await moor("import one --data fresh")).out,
      ) ?? [];
    const { code, out } = await moor(`import one --data fresh ${proposed} secrets`);
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/2 unchanged\.\nCreated 1 token; the secrets are in secrets\n/),
    ]);
  });

  it("existing zones are listed and left alone, unless --replace is given", async () => {
    await moor("export one --data data");
    const refused = await moor("import one --data data");
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.err).toMatch(
      /zone again\.example\.org: it already exists; use --replace[\s\S]*Nothing was imported/,
    );
    expect((await moor("import one --data data --replace")).out).toMatch(/2 unchanged/);
    expect(await moor("store check --data data")).toMatchObject({ code: 0 });
  });

  it.each(["export secret.txt --data data", "import secret.txt --data fresh"])(
    "moor %s: a file is not a folder",
    async (words) => {
      writeFileSync(join(folder, "secret.txt"), "x");
      expect(await moor(words)).toEqual({
        code: 1,
        out: "",
        err: expect.stringMatching(
          /^secret\.txt is a file; give (?:a new folder|a folder that moor export wrote)\.\n$/,
        ),
      });
    },
  );

  it("a zone with a primary server in a private network needs --allow-primary", async () => {
    await moor("export one --data data");
    const file = join(folder, "one", "manifest.json");
    const manifest = JSON.parse(readFileSync(file, "utf8"));
    Object.assign(manifest.zones[0], { mode: "secondary", primaries: [{ address: "10.0.0.1", port: 53 }] });
    writeFileSync(file, JSON.stringify(manifest));
    const refused = await moor("import one --data fresh");
    expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/10\.0\.0\.1 is not a public address/)]);
    expect(await moor("import one --data fresh --allow-primary 10.0.0.0/8")).toMatchObject({ code: 0 });
  });

  it("a fault anywhere imports nothing", async () => {
    await moor("export one --data data");
    const file = join(folder, "one", "zones", "example.org.zone");
    writeFileSync(file, readFileSync(file, "utf8").replace("192.0.2.12", "192.0.2.1000"));
    expect((await moor("import one --data fresh")).err).toMatch(/example\.org\.zone: it has changed since/);
    const { code, err } = await moor("import one --data fresh --edited");
    expect(code).toBe(1);
    expect(err).toMatch(/^zones\/example\.org\.zone: line \d+: .*192\.0\.2\.1000|address/m);
    expect(existsSync(join(folder, "fresh"))).toBe(false);
  });
});

describe("an import that fails changes nothing", () => {
  const accounts = async () => {
    const store = openSqliteStore(join(folder, "data", "records.sqlite"));
    const found = await Promise.all(["main", "copy", ""].map((name) => store.account(name)));
    store.close();
    return found.flatMap((account) => account?.name ?? []);
  };
  beforeEach(() => moor("export one --data data"));

  it("if there is no folder for the tokens", async () => {
    const { code, out, err } = await moor("import one --data fresh --tokens nodir/secrets");
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(/there is no folder .*nodir; create it first/);
    expect(existsSync(join(folder, "fresh"))).toBe(false);
  });

  it("if the folder for the tokens is a file", async () => {
    const { code, err } = await moor("import one --data fresh --tokens one/manifest.json/secrets");
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/cannot be written.*give another path/) });
    expect(existsSync(join(folder, "fresh"))).toBe(false);
  });

  it("if the file for the tokens already exists", async () => {
    const { code, err } = await moor("import one --data fresh --tokens one/manifest.json");
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/already exists; give a new file/) });
    expect(existsSync(join(folder, "fresh"))).toBe(false);
  });

  it("if zones belong to another account; it creates no account either", async () => {
    const { code, err } = await moor("import one --data data --account copy");
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringMatching(/another account[\s\S]*Nothing was imported/),
    });
    expect(await accounts()).toEqual(["main"]);
  });

  it("if the name of the account is empty", async () => {
    const { code, err } = await moor("import one --data fresh --account ");
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/must be the name of an account/) });
    expect(existsSync(join(folder, "fresh"))).toBe(false);
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
