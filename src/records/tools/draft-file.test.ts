import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { withDraft } from "./backup.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "moor-draft-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const draft = (name: string, make: (draft: string) => Promise<void>) => withDraft(join(folder, name), make);

it("a draft is removed when its callback ends, even if it fails", async () => {
  const making = draft("one.sqlite", async (path) => {
    writeFileSync(path, "half");
    throw new Error("no room");
  });
  await expect(making).rejects.toThrow("no room");
  expect(readdirSync(folder)).toEqual([]);
});

it("the next draft of any name removes what a killed process left behind, and nothing else", async () => {
  const others = [".ssh", ".other.draft-12345678", "one.sqlite.draft-12345678"];
  for (const name of others) writeFileSync(join(folder, name), "");
  const killed = `import { writeFileSync } from "node:fs";
    import { withDraft } from ${JSON.stringify(join(import.meta.dirname, "backup.ts"))};
    await withDraft(${JSON.stringify(join(folder, "one.sqlite"))}, async (path) => {
      writeFileSync(path, "half");
      process.kill(process.pid, "SIGKILL");
    });`;
  expect(spawnSync(process.execPath, ["--input-type=module", "-e", killed]).signal).toBe("SIGKILL");
  expect(readdirSync(folder).filter((name) => !others.includes(name))).toEqual([
    expect.stringMatching(/^\.one\.sqlite\.draft-/),
  ]);
  await draft("two.sqlite", async () => undefined);
  expect(readdirSync(folder).toSorted()).toEqual(others.toSorted());
});

it("a draft that another process still works on is kept", async () => {
  await draft("one.sqlite", async (path) => {
    writeFileSync(path, "half");
    const other = `import { withDraft } from ${JSON.stringify(join(import.meta.dirname, "backup.ts"))};
      await withDraft(${JSON.stringify(join(folder, "one.sqlite"))}, async () => undefined);`;
    expect(spawnSync(process.execPath, ["--input-type=module", "-e", other]).status).toBe(0);
    expect(existsSync(path)).toBe(true);
  });
});

it("many simultaneous drafts in one folder do not interfere", async () => {
  const busy = `import { writeFile } from "node:fs/promises";
    import { withDraft } from ${JSON.stringify(join(import.meta.dirname, "backup.ts"))};
    for (let i = 0; i < 40; i += 1)
      await withDraft(${JSON.stringify(join(folder, "one.sqlite"))}, (path) => writeFile(path, "half"));`;
  const codes = [1, 2, 3].map(async () => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", busy], { stdio: "inherit" });
    return (await once(child, "exit"))[0];
  });
  expect(await Promise.all(codes)).toEqual([0, 0, 0]);
  expect(readdirSync(folder)).toEqual([]);
});
