import { spawnSync } from "node:child_process";
import {
  chownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { patience } from "../../../test/rig/patience.ts";
import { aRecord, at } from "../../../test/rig/records/a-set.ts";
import { fillStore } from "../../../test/rig/records/filled-store.ts";
import { writeTo } from "../../../test/rig/store/write.ts";
import type { RRset } from "../../core/records/rrset.ts";
import { openSqliteStore } from "../store/sqlite/store.ts";
import { backupSqlite, backupTables, placeNew, restoreSqlite, takePlace } from "./backup.ts";
import { readSqliteTables, trimSqliteTables } from "./tables/sqlite.ts";

let folder: string;
let path: string;
let file: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-backup-"));
  [path, file] = [join(folder, "records.sqlite"), join(folder, "backup.sqlite")];
  const store = openSqliteStore(path);
  await fillStore(store);
  store.close();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const tellers = () => ({ progress: () => undefined, signal: AbortSignal.timeout(patience) });
const backup = () => backupSqlite(path, file, tellers());
const restore = (moveAside = false) =>
  restoreSqlite(file, path, {
    moveAside,
    now: new Date("2026-11-15T12:00:00Z"),
    signal: AbortSignal.timeout(patience),
  });
const namesIn = async (database: string) => {
  const store = openSqliteStore(database);
  const names = (await store.everyZone(0, 10)).map((zone) => zone.name);
  store.close();
  return names;
};

describe("a backup", () => {
  it("is one file, readable only by its owner, with the content of the store", async () => {
    expect(await backup()).toMatchObject({ kind: "done", counts: { zones: 2 } });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).toSorted()).toEqual(["backup.sqlite", "records.sqlite"]);
    expect(await namesIn(file)).toEqual(["example.org", "again.example.org"]);
  });

  it("that is written table by table is the same kind of file", async () => {
    const tables = readSqliteTables(path);
    expect(await backupTables(tables, file, tellers())).toMatchObject({ kind: "done", counts: { zones: 2 } });
    await tables.close();
    expect(readdirSync(folder).toSorted()).toEqual(["backup.sqlite", "records.sqlite"]);
    expect(await namesIn(file)).toEqual(["example.org", "again.example.org"]);
  });

  it("saves and restores values that the APIs now refuse", async () => {
    const store = openSqliteStore(path);
    const { id: account } = await store.ensureAccount("main", at);
    const zone = await store.zoneBy(account, { name: "example.org" });
    const request = { account, at: { zone: zone?.id ?? "" }, owners: "all", actor: "x", now: at } as const;
    const records = ["\\# 3 016100", "\\# 3 016200"].map((value) => aRecord("d", value));
    const dnames: RRset = { owner: "d", type: "TYPE39", ttl: null, records };
    await writeTo(store, request, ({ sets }) => ({ wanted: [...sets, dnames], result: undefined }));
    store.close();
    expect(await backup()).toMatchObject({ kind: "done" });
    rmSync(path);
    expect(await restore()).toMatchObject({ kind: "done" });
  });

  it("never overwrites a file", async () => {
    writeFileSync(file, "mine");
    await expect(backup()).rejects.toThrow(/already exists; give a new file/);
    expect(readFileSync(file, "utf8")).toBe("mine");
  });

  it("fails for a store with faults: it reports them and leaves no file behind", async () => {
    change("UPDATE zones SET record_count = 99");
    expect(await backup()).toMatchObject({
      kind: "faulty",
      faults: [{ code: "count-wrong" }, { code: "count-wrong" }],
    });
    expect(readdirSync(folder)).toEqual(["records.sqlite"]);
  });

  it.each<[string, () => void, RegExp]>([
    ["missing", () => rmSync(path), /the file .*records\.sqlite does not exist; correct the path/],
    ["not a database", () => writeFileSync(path, "text".repeat(1000)), /is not a database; give the path/],
    ["another program's", () => otherDatabase(), /not of moor's record service/],
    ["a newer moor's", () => change("PRAGMA user_version = 999"), /newer moor \(schema 999.*use the newer version/],
  ])("of a file that is %s says so", async (_, spoil, says) => {
    spoil();
    await expect(backup()).rejects.toThrow(says);
    expect(readdirSync(folder).filter((name) => name.includes("backup"))).toEqual([]);
  });
});

describe("on a disk without hard links", () => {
  const refuse = () => Promise.reject(Object.assign(new Error("operation not permitted"), { code: "EPERM" }));
  const place = () => placeNew(join(folder, "draft"), file, new Date(), refuse);
  beforeEach(() => writeFileSync(join(folder, "draft"), "new"));

  it("a new file still gets its name", async () => {
    await place();
    expect(readFileSync(file, "utf8")).toBe("new");
    expect(readdirSync(folder).toSorted()).toEqual(["backup.sqlite", "records.sqlite"]);
  });

  it("and does not overwrite another", async () => {
    writeFileSync(file, "of another");
    await expect(place()).rejects.toThrow("EEXIST");
    expect(readFileSync(file, "utf8")).toBe("of another");
  });
});

describe("a restore", () => {
  beforeEach(backup);

  it("creates the store in a folder without one", async () => {
    rmSync(path);
    expect(await restore()).toMatchObject({ kind: "done", aside: undefined });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await namesIn(path)).toEqual(["example.org", "again.example.org"]);
  });

  it.runIf(process.getuid?.() === 0)("by root gives the store to the owner of its folder", async () => {
    rmSync(path);
    chownSync(folder, 4711, 4712);
    await restore();
    expect(statSync(path)).toMatchObject({ uid: 4711, gid: 4712 });
  });

  it("does not touch a store with data unless asked to, and then keeps it under another name", async () => {
    const store = openSqliteStore(path);
    await fillStore(store, "example.com");
    store.close();
    const before = readFileSync(path);
    expect(await restore()).toEqual({ kind: "holds-data", zones: 4, tokens: 2 });
    expect(readFileSync(path)).toEqual(before);
    const outcome = await restore(true);
    expect(outcome).toMatchObject({ kind: "done", counts: { zones: 2 } });
    const aside = outcome.kind === "done" ? (outcome.aside ?? "") : "";
    expect(aside).toBe(`${path}.before-restore-2026-11-15T12-00-00-000Z`);
    expect(readdirSync(folder).toSorted()).toEqual(["backup.sqlite", "records.sqlite", basename(aside)]);
    expect(await namesIn(aside)).toHaveLength(4);
    expect(await namesIn(path)).toHaveLength(2);
  });

  it.each([
    ["its list of tables", 100, 4_000],
    ["the pages after it", 4_096, 90_000],
  ])("replaces a store that is damaged in %s, and keeps the old one", async (_, from, to) => {
    const spoiled = readFileSync(path).fill(0xff, from, to);
    writeFileSync(path, spoiled);
    expect(await restore()).toMatchObject({ kind: "holds-data" });
    const outcome = await restore(true);
    const kept = readFileSync((outcome.kind === "done" && outcome.aside) || "");
    expect(kept.subarray(100)).toEqual(spoiled.subarray(100));
    expect(await namesIn(path)).toHaveLength(2);
  });

  it("that is killed before the last step leaves the store in place, and succeeds when run again", async () => {
    const store = openSqliteStore(path);
    await fillStore(store, "example.com");
    store.close();
    const put = () => Promise.reject(new Error("killed"));
    await expect(takePlace(path, file, { now: new Date(), put })).rejects.toThrow("killed");
    expect(await namesIn(path)).toHaveLength(4);
    const outcome = await restore(true);
    expect(await namesIn((outcome.kind === "done" && outcome.aside) || "")).toHaveLength(4);
    expect(await namesIn(path)).toHaveLength(2);
  });

  it("also keeps what was only in the write-ahead log of a service that died", async () => {
    const store = openSqliteStore(path);
    await fillStore(store, "example.com");
    // As after kill -9: both files unchanged, and no process has them open.
    const [main, log] = [readFileSync(path), readFileSync(`${path}-wal`)];
    store.close();
    writeFileSync(path, main);
    writeFileSync(`${path}-wal`, log);
    const outcome = await restore(true);
    expect(await namesIn((outcome.kind === "done" && outcome.aside) || "")).toHaveLength(4);
    expect(await namesIn(path)).toHaveLength(2);
  });

  it("does not apply the log that a moved store left behind, and keeps it", async () => {
    const store = openSqliteStore(path);
    await fillStore(store, "example.com");
    const log = readFileSync(`${path}-wal`);
    store.close();
    rmSync(path);
    for (const end of ["-wal", "-shm"]) writeFileSync(`${path}${end}`, log);
    const aside = `${path}.before-restore-2026-11-15T12-00-00-000Z-wal`;
    expect(await restore()).toMatchObject({ kind: "done", counts: { zones: 2 }, aside });
    expect(readdirSync(folder).toSorted()).toEqual(["backup.sqlite", "records.sqlite", basename(aside)]);
    expect(readFileSync(aside)).toEqual(log);
    expect(await namesIn(path)).toHaveLength(2);
  });

  it("is refused even if the file was moved away under a running service", async () => {
    const store = openSqliteStore(path);
    await fillStore(store, "example.com");
    renameSync(path, `${path}.bad`);
    const before = readdirSync(folder);
    expect(await restore()).toEqual({ kind: "in-use" });
    await expect(backupSqlite(file, path, tellers())).rejects.toThrow(/still has it open; stop that process first/);
    expect(readdirSync(folder)).toEqual(before);
    renameSync(`${path}.bad`, path);
    store.close();
    expect(await namesIn(path)).toHaveLength(4);
  });

  it("is refused while another connection has the store open, and changes nothing", async () => {
    const store = openSqliteStore(path);
    expect(await restore(true)).toEqual({ kind: "in-use" });
    expect((await store.everyZone(0, 10)).length).toBe(2);
    store.close();
    expect(readdirSync(folder).toSorted()).toEqual(["backup.sqlite", "records.sqlite"]);
  });

  it("is refused in another process too, even after this one has read the file", async () => {
    const store = openSqliteStore(path);
    const trimming = trimSqliteTables(path);
    await trimming.close();
    const take = `import { isInUse } from ${JSON.stringify(join(import.meta.dirname, "../../lib/sqlite/sole.ts"))};
      process.exitCode = isInUse(${JSON.stringify(path)}) ? 7 : 0;`;
    const { status } = spawnSync(process.execPath, ["--input-type=module", "-e", take]);
    store.close();
    expect(status).toBe(7);
  });

  it("from a store that is in use is refused: the last writes are not in its file", async () => {
    const store = openSqliteStore(file);
    await fillStore(store, "example.com");
    await expect(restore(true)).rejects.toThrow(
      /backup\.sqlite is in use, so it is not a backup; run moor store backup/,
    );
    store.close();
    expect(await restore(true)).toMatchObject({ kind: "done", counts: { zones: 4 } });
  });

  it("of a backup with faults is refused, and reports all of them", async () => {
    change("UPDATE zones SET record_count = 99 WHERE number = 1", file);
    expect(await restore(true)).toMatchObject({ kind: "faulty", faults: [{ code: "count-wrong" }] });
    expect(readdirSync(folder).toSorted()).toEqual(["backup.sqlite", "records.sqlite"]);
  });

  it("of a backup with a damaged page is refused, and the store is unchanged", async () => {
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0x5a, 8192, 16_384));
    const outcome = await restore(true).catch((error: Error) => error.message);
    expect(JSON.stringify(outcome)).toMatch(/integrity check|damaged|malformed/);
    expect(await namesIn(path)).toHaveLength(2);
  });
});

function change(statement: string, at = path): void {
  const database = new DatabaseSync(at);
  database.exec(statement);
  database.close();
}

function otherDatabase(): void {
  rmSync(path);
  change("CREATE TABLE songs (title TEXT)");
}
