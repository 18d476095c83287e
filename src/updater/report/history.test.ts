import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { longestHistory, openHistory, readHistory } from "./history.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "moor-history-"));
  file = join(folder, "history.jsonl");
});
afterEach(() => rmSync(folder, { recursive: true }));

const notice = (n: number) => ({ kind: "done", key: "k", message: `m${n}`, fields: { name: "home A" } }) as const;

it("keeps the last thousand, even across restarts, and skips a damaged line", async () => {
  for (const part of [0, 1, 2]) {
    const history = openHistory(file, () => undefined);
    for (let n = 0; n < 800; n++) history.add(notice(part * 800 + n), new Date(0));
    await history.settled();
  }
  appendFileSync(file, '{"at":"1970-01-01T00:00:00Z","about":"edited","what":5}\n[]\nnull\n{"at":"1970');
  const entries = await readHistory(file);
  expect(entries.at(-1)?.what).toBe("m2399");
  expect(entries.length).toBeGreaterThanOrEqual(longestHistory);
  expect(readFileSync(file, "utf8").split("\n").length).toBeLessThan(2 * longestHistory);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it("reports each entry that cannot be saved, and continues", async () => {
  const warnings: string[] = [];
  const history = openHistory(join(folder, "not", "there"), (because) => warnings.push(because));
  history.add(notice(1), new Date(0));
  await history.settled();
  expect(warnings).toEqual([
    expect.stringMatching(/ENOENT.*not\/there.*; fix that, or choose another file with `history:`/),
  ]);
  expect(await readHistory(join(folder, "not", "there"))).toEqual([]);
});

it("reports a path that is a folder, both when writing and when reading", async () => {
  const warnings: string[] = [];
  const history = openHistory(folder, (because) => warnings.push(because));
  history.add(notice(1), new Date(0));
  await history.settled();
  expect(warnings).toEqual([expect.stringContaining(`${folder} cannot be read (EISDIR); fix that`)]);
  await expect(readHistory(folder)).rejects.toThrow(`${folder} cannot be read (EISDIR)`);
});

it("truncates the target of a link, which stays a link", async () => {
  mkdirSync(join(folder, "disk"));
  symlinkSync(join("disk", "h"), file);
  const history = openHistory(file, () => undefined);
  for (let n = 0; n < 2 * longestHistory; n++) history.add(notice(n), new Date(0));
  await history.settled();
  expect(lstatSync(file).isSymbolicLink()).toBe(true);
  expect([readdirSync(folder), readdirSync(join(folder, "disk"))]).toEqual([["disk", "history.jsonl"], ["h"]]);
  expect((await readHistory(join(folder, "disk", "h"))).length).toBe(longestHistory);
});
