import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { openStateFile, type StateFile } from "./state-file.ts";

const now = Date.UTC(2026, 0, 2, 3, 4, 5);
let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "moor-state-"));
  path = join(folder, "state.json");
});
afterEach(() => rmSync(folder, { recursive: true }));

async function open(): Promise<StateFile> {
  const opened = await openStateFile(path, now, { write: true });
  if (opened.kind !== "open") throw new Error(opened.because);
  return opened.state;
}

const entry = (address: string) => ({ address, storedAt: "2026-01-02T03:04:05.000Z" });

describe("the state file", () => {
  it("is restored after it was closed, is readable only by its owner, and leaves no other files", async () => {
    const state = await open();
    await state.set("a", entry("9.9.9.9"));
    await state.setRateLimitedUntil("https://x/", now + 5);
    const again = await open();
    expect(again.get("a")).toEqual(entry("9.9.9.9"));
    expect(again.get("b")).toBeUndefined();
    expect(again.rateLimitedUntil("https://x/")).toBe(now + 5);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["state.json"]);
  });

  it("loses nothing when many are stored at the same time", async () => {
    const state = await open();
    await Promise.all(Array.from({ length: 20 }, (_, i) => state.set(`k${i}`, entry(`9.9.9.${i}`))));
    const again = await open();
    for (let i = 0; i < 20; i++) expect(again.get(`k${i}`)).toEqual(entry(`9.9.9.${i}`));
  });

  // Written by those builds. A new form of the file gets a new one here; none is ever changed.
  const folderOfAll = new URL("../../../test/updater/state-files/", import.meta.url);
  it.each(readdirSync(folderOfAll))(
    "is read as %s has it, with what is in doubt and how long services wait",
    async (name) => {
      cpSync(new URL(name, folderOfAll), path);
      const opened = await openStateFile(path, now, { write: true });
      expect(opened).not.toHaveProperty("warning");
      const state = await open();
      const home = "https://dns.example.org/ example.org home";
      expect(state.get(`${home} A`)).toEqual({ address: "9.9.9.10", storedAt: "2026-11-18T12:05:00.000Z" });
      expect(state.get(`${home} AAAA`)).toMatchObject({ address: "2a00::9", ttl: 60, ttlKept: 300, inDoubt: true });
      expect(state.rateLimitedUntil("https://dns.example.org/")).toBe(1_763_600_000_000);
      expect(state.events().map(([, change]) => change.new)).toEqual(name === "with-events.json" ? ["9.9.9.10"] : []);
      // The counts tell which of two processes stored an entry last.
      await state.set(`${home} A`, entry("9.9.9.11"));
      expect(JSON.parse(readFileSync(path, "utf8")).versions[`${home} A`]).toBe(3);
    },
  );

  const damaged: [string, string][] = [
    ["empty", ""],
    ["torn", '{"version":1,"entr'],
    ["another file altogether", "[]"],
    ["not an object", "null"],
    ["a version that never existed", '{"version":0,"entries":{}}'],
    ["without entries", '{"version":1}'],
    ["entries of a wrong type", '{"version":1,"entries":{"a":"9.9.9.9"}}'],
    ["one entry of a wrong type", '{"version":1,"entries":{"a":{"address":"9.9.9.9","storedAt":""},"b":null}}'],
    ["an entry without its time", '{"version":1,"entries":{"a":{"address":"9.9.9.9"}}}'],
    ["an address of a wrong type", '{"version":1,"entries":{"a":{"address":9,"storedAt":""}}}'],
    ["holds in a list", '{"version":1,"entries":{},"holds":[5]}'],
    ["holds of a wrong type", '{"version":1,"entries":{},"holds":{"a":"x","b":5}}'],
  ];
  test.each(damaged)("damaged (%s): set aside with a warning, and treated as empty", async (_, text) => {
    writeFileSync(path, text);
    const opened = await openStateFile(path, now, { write: true });
    const warning = expect.stringMatching(/ was damaged: it is kept as .*\.damaged-20260102T030405000Z, and every /);
    expect(opened).toMatchObject({ kind: "open", warning });
    expect(opened.kind === "open" && opened.state.get("a")).toBeUndefined();
    expect(readdirSync(folder)).toEqual(["state.json.damaged-20260102T030405000Z"]);
    expect(readFileSync(join(folder, "state.json.damaged-20260102T030405000Z"), "utf8")).toBe(text);
  });

  it("stays where it is if it is damaged and a round is only planned", async () => {
    writeFileSync(path, "torn");
    const warning = expect.stringContaining(" was damaged: it would be renamed, and every address would be ");
    expect(await openStateFile(path, now, { write: false })).toMatchObject({ kind: "open", warning });
    expect(readdirSync(folder)).toEqual(["state.json"]);
  });

  test.each([true, false])(
    "is not touched if a newer version of moor wrote it (opened for writing: %s)",
    async (write) => {
      const text = '{"version":2,"names":{}}';
      writeFileSync(path, text);
      expect(await openStateFile(path, now, { write })).toEqual({
        kind: "unusable",
        because: `the state file ${path} was written by a newer version of moor, and this version cannot read it`,
        todo: "run the newer version again, or move the file away: every address is then written again",
      });
      expect(readdirSync(folder)).toEqual(["state.json"]);
      expect(readFileSync(path, "utf8")).toBe(text);
    },
  );

  it("is refused before anything is sent if its folder does not exist", async () => {
    const opened = await openStateFile(join(folder, "no", "state.json"), now, { write: true });
    expect(opened).toMatchObject({ kind: "unusable", because: expect.stringContaining("ENOENT") });
  });

  it("is refused if it cannot be read", async () => {
    mkdirSync(path);
    chmodSync(path, 0o700);
    expect(await openStateFile(path, now, { write: true })).toMatchObject({ kind: "unusable" });
  });

  it("syncs the disk only where a power cut could leave something wrong", async () => {
    const asked: string[] = [];
    let full = false;
    const write = (how: string) => async () => {
      asked.push(how);
      if (full) throw new Error("ENOSPC");
    };
    const disk = { lasting: write("lasting"), quick: write("quick") };
    const opened = await openStateFile(path, now, { write: true, disk });
    if (opened.kind !== "open") throw new Error(opened.because);
    const { state } = opened;
    await state.set("a", entry("9.9.9.9"));
    await state.set("a", { ...entry("9.9.9.9"), inDoubt: true });
    await state.set("a", entry("9.9.9.10"));
    await state.setRateLimitedUntil("https://x/", now + 5);
    expect(asked.splice(0)).toEqual(["quick", "lasting", "quick", "quick"]);
    full = true;
    await expect(state.set("a", { ...entry("9.9.9.10"), inDoubt: true })).rejects.toThrow("ENOSPC");
    full = false;
    await state.flush();
    await state.flush();
    expect(asked).toEqual(["lasting", "lasting"]);
  });

  it("is saved twice for many names that are written one after the other, each in doubt in the file before it is sent", async () => {
    const texts: string[] = [];
    const write = async (_: string, text: string) => void texts.push(text);
    const opened = await openStateFile(path, now, { write: true, disk: { lasting: write, quick: write } });
    if (opened.kind !== "open") throw new Error(opened.because);
    const { state } = opened;
    const names = Array.from({ length: 40 }, (_, i) => `n${i}`);
    const stored = (text = "") => JSON.parse(text).entries;
    for (const name of names) await state.set(name, entry("9.9.9.9"));
    texts.length = 0;
    for (const [i, name] of names.entries()) {
      await state.markInDoubt(name, () => names.slice(i + 1));
      expect([stored(texts.at(-1))[name].inDoubt, state.get(name)?.inDoubt]).toEqual([true, true]);
      expect(state.get(names[i + 1] ?? "")?.inDoubt).toBeUndefined();
      await state.set(name, entry("9.9.9.10"));
    }
    expect(texts.length).toBe(2);
    expect(Object.values(stored(texts[1]))).toEqual(names.map(() => entry("9.9.9.10")));
  });

  it("takes back the doubt of names that were to follow but do not", async () => {
    const state = await open();
    await state.set("a", entry("9.9.9.9"));
    await state.set("b", entry("9.9.9.9"));
    await state.markInDoubt("a", () => ["b"]);
    await state.set("a", entry("9.9.9.10"));
    expect((await open()).get("b")?.inDoubt).toBe(true);
    await state.endBatch();
    const after = await open();
    expect([after.get("a"), after.get("b")]).toEqual([entry("9.9.9.10"), entry("9.9.9.9")]);
  });

  it("keeps what could not be written in memory, and writes it later", async () => {
    const state = await open();
    mkdirSync(path);
    await expect(state.set("a", entry("9.9.9.9"))).rejects.toThrow(/EISDIR/);
    expect(state.get("a")).toEqual(entry("9.9.9.9"));
    await expect(state.flush()).rejects.toThrow(/EISDIR/);
    rmSync(path, { recursive: true });
    await state.flush();
    expect((await open()).get("a")).toEqual(entry("9.9.9.9"));
  });
});

describe("a state file that is a link", () => {
  it.each([
    ["to a file", "disk/state", '{"version":1,"entries":{}}'],
    ["to a file that does not exist yet", "disk/state", undefined],
    ["through a linked folder", "linked/../disk/state", '{"version":1,"entries":{}}'],
  ])("stays one: %s", async (_, to, content) => {
    mkdirSync(join(folder, "disk"));
    mkdirSync(join(folder, "disk", "deep"));
    symlinkSync(join("disk", "deep"), join(folder, "linked"));
    if (to.startsWith("linked")) mkdirSync(join(folder, "disk", "disk"));
    symlinkSync(to, path);
    const file = join(folder, to.startsWith("linked") ? "disk/disk/state" : "disk/state");
    if (content !== undefined) writeFileSync(file, content);
    const state = await open();
    await state.set("a", entry("9.9.9.9"));
    await state.set("a", { ...entry("9.9.9.9"), inDoubt: true });
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(lstatSync(file).isFile()).toBe(true);
    expect(JSON.parse(readFileSync(file, "utf8")).entries.a).toEqual({ ...entry("9.9.9.9"), inDoubt: true });
    expect((await open()).get("a")?.inDoubt).toBe(true);
    expect(readdirSync(folder)).toEqual(["disk", "linked", "state.json"]);
  });

  it("stays one when its target is damaged: the target is set aside in its folder", async () => {
    mkdirSync(join(folder, "disk"));
    symlinkSync(join("disk", "state"), path);
    writeFileSync(join(folder, "disk", "state"), "{");
    const state = await open();
    await state.set("a", entry("9.9.9.9"));
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(readdirSync(join(folder, "disk"))).toEqual(["state", "state.damaged-20260102T030405000Z"]);
  });

  it("is refused if the folder of its target does not exist", async () => {
    symlinkSync(join("disk", "state"), path);
    const opened = await openStateFile(path, now, { write: true });
    expect(opened).toMatchObject({ kind: "unusable", because: expect.stringContaining("ENOENT") });
  });
});

describe("a state file of two processes", () => {
  const later = (address: string) => ({ address, storedAt: "2026-01-02T04:00:00.000Z" });
  const earlier = (address: string) => ({ address, storedAt: "2020-01-01T00:00:00.000Z" });

  it("holds what was stored last, even if the clock was behind", async () => {
    const [one, other] = [await open(), await open()];
    await one.set("a", entry("9.9.9.1"));
    await other.flush();
    await other.set("a", earlier("9.9.9.2"));
    await one.flush();
    expect([one.get("a"), other.get("a"), (await open()).get("a")]).toEqual(Array(3).fill(earlier("9.9.9.2")));
  });

  it("is in doubt for both if both stored independently, until one stores again", async () => {
    const [one, other] = [await open(), await open()];
    await one.set("a", later("9.9.9.1"));
    await other.set("a", entry("9.9.9.2"));
    await one.flush();
    const doubt = { ...later("9.9.9.1"), inDoubt: true };
    expect([one.get("a"), other.get("a"), (await open()).get("a")]).toEqual(Array(3).fill(doubt));
    await other.set("a", earlier("9.9.9.3"));
    await one.flush();
    expect([one.get("a"), (await open()).get("a")]).toEqual(Array(2).fill(earlier("9.9.9.3")));
  });

  it("keeps the doubt of an unfinished write when the other process removes its own doubt", async () => {
    await (await open()).set("a", entry("9.9.9.1"));
    const [one, other] = [await open(), await open()];
    await one.set("a", { ...entry("9.9.9.1"), inDoubt: true });
    await other.set("a", { ...entry("9.9.9.1"), inDoubt: true });
    await one.set("a", { ...entry("9.9.9.1"), inDoubt: true });
    await other.set("a", entry("9.9.9.1"));
    await one.flush();
    expect([one.get("a")?.inDoubt, other.get("a")?.inDoubt]).toEqual([true, true]);
  });

  it("loses nothing that either has stored, and reports the other process", async () => {
    await (await open()).set("a", entry("9.9.9.1"));
    const [one, other] = [await open(), await open()];
    await one.set("a", later("9.9.9.2"));
    expect(await one.flush()).toBe(false);
    await other.set("b", later("9.9.9.2"));
    expect(await other.flush()).toBe(true);
    expect(await other.flush()).toBe(false);
    const again = await open();
    expect([again.get("a"), again.get("b")]).toEqual([later("9.9.9.2"), later("9.9.9.2")]);
    expect(await one.flush()).toBe(true);
    expect(one.get("b")).toEqual(later("9.9.9.2"));
  });

  it("has what the other process has written since, including its doubt", async () => {
    await (await open()).set("a", entry("9.9.9.1"));
    const [one, other] = [await open(), await open()];
    await one.set("a", { ...entry("9.9.9.1"), inDoubt: true });
    await other.flush();
    expect(other.get("a")).toEqual({ ...entry("9.9.9.1"), inDoubt: true });
    await one.set("a", later("9.9.9.2"));
    await other.flush();
    expect(other.get("a")).toEqual(later("9.9.9.2"));
  });

  it("restores what the other process has overwritten at the same moment", async () => {
    const one = await open();
    await one.set("a", entry("9.9.9.1"));
    writeFileSync(
      path,
      JSON.stringify({ version: 1, entries: { b: entry("9.9.9.2") }, holds: {}, versions: { b: 1 } }),
    );
    await one.flush();
    const again = await open();
    expect([again.get("a"), again.get("b")]).toEqual([entry("9.9.9.1"), entry("9.9.9.2")]);
  });

  it("does not count as shared when it was restored unchanged, as from a backup", async () => {
    const one = await open();
    await one.set("a", entry("9.9.9.1"));
    writeFileSync(`${path}.new`, readFileSync(path));
    renameSync(`${path}.new`, path);
    expect(await one.flush()).toBe(false);
    const again = await open();
    writeFileSync(path, readFileSync(path));
    utimesSync(path, 0, 0);
    expect(await again.flush()).toBe(false);
  });

  it.each([
    ["removed", () => rmSync(path)],
    ["damaged", () => writeFileSync(path, "{")],
  ])(
    "does not count as shared when it was %s: it is left as it is until there is something to store",
    async (_, change) => {
      const one = await open();
      await one.set("a", entry("9.9.9.1"));
      change();
      expect(await one.flush()).toBe(false);
      expect((await open()).get("a")).toBeUndefined();
    },
  );
});
