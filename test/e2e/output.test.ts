import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtProgram } from "../rig/bundle.ts";
import { node } from "../rig/namespace.ts";
import { startProcess } from "../rig/started-process.ts";

let folder: string;
/** A full disk. */
let full: number;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "moor-e2e-output-"));
  full = openSync("/dev/full", "w");
});
afterAll(() => {
  closeSync(full);
  rmSync(folder, { recursive: true, force: true });
});

const start = (words: string, output: "pipe" | number, log: "pipe" | number) =>
  startProcess([node, builtProgram(), ...words.split(" ")], {
    cwd: folder,
    stdio: ["ignore", output, log],
  });

describe("output that cannot be written", () => {
  test("a command whose output is lost fails, and says so", async () => {
    const { code, err } = await start("token add --new", full, "pipe").ended;
    expect([code, err]).toEqual([1, expect.stringMatching(/^moor: standard output cannot be written: .*ENOSPC/m)]);
  });

  test("a closed pipe is not a failure", async () => {
    const moor = start("token list --json", "pipe", "pipe");
    moor.child.stdout?.destroy();
    expect(await moor.ended).toMatchObject({ code: 0, err: "" });
  });

  test("a service keeps running without its log", async () => {
    const service = start("records --plain-http --access-log --listen 127.0.0.1:0", "pipe", full);
    await service.says(/listens on http:\/\/\S+/);
    const url = /listens on (\S+)/.exec(service.out())?.[1] ?? "";
    for (let i = 0; i < 3; i += 1) {
      const refused = await fetch(`${url}/api/v1/zones`, { headers: { "auth-api-token": "wrong" } });
      expect(refused.status).toBe(401);
    }
    expect(await service.stop()).toMatchObject({ code: 0 });
  });
});
