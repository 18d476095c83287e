import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { startProcess } from "../rig/started-process.ts";
import { prepareData } from "./store-files.ts";
import { moor, runMoor } from "./storm.ts";

let folder: string;
let data: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-closed-"));
  data = join(folder, "data");
  mkdirSync(data);
  await prepareData(data, "closed.example");
});
afterEach(() => {
  chmodSync(data, 0o700);
  rmSync(folder, { recursive: true, force: true });
});

/** As a user to whom file modes apply: root could read everything. */
const asUser = (...words: readonly string[]) =>
  startProcess(["unshare", "--user", ...moor, ...words], { env: { PATH: process.env.PATH ?? "" } }).ended;

it.each(["check", "backup NEW", "copy DATA NEW", "compact"])(
  "moor store %s does not call a store missing if the user has no access",
  async (verb) => {
    chmodSync(data, 0o000);
    const words = verb.split(" ").map((word) => ({ NEW: join(folder, "new.sqlite"), DATA: data })[word] ?? word);
    const { code, err } = await asUser("store", ...words, ...(verb.startsWith("copy") ? [] : ["--data", data]));
    expect(err).toMatch(/this user cannot read \S*data\/records\.sqlite; run this as root|data cannot be used: EACCES/);
    expect(code).toBe(1);
  },
);

it("a backup that the user cannot read is not reported as damaged", async () => {
  const file = join(folder, "b.sqlite");
  await runMoor("store", "backup", file, "--data", data);
  chmodSync(file, 0o000);
  for (const words of [["check"], ["restore", "--data", join(folder, "other")]]) {
    const { code, err } = await asUser("store", ...words, file);
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringMatching(/this user cannot read .*b\.sqlite; run/),
    });
  }
});

it("a backup to a folder without write permission says so", async () => {
  const shut = join(folder, "shut");
  mkdirSync(shut, { mode: 0o500 });
  const { code, err } = await asUser("store", "backup", join(shut, "b.sqlite"), "--data", data);
  expect({ code, err }).toEqual({ code: 1, err: `moor: this user cannot write to ${shut}; choose another place.\n` });
});
