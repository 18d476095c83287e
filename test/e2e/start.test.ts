import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { node, repository } from "../rig/namespace.ts";
import { startProcess } from "../rig/started-process.ts";

// Processes start slowly on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "moor-e2e-start-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const program = join(repository, "bin", "moor.ts");

describe("moor starts", () => {
  test("through a link to the script of a clone, as from a folder on the PATH", async () => {
    const link = join(folder, "moor");
    symlinkSync(join(repository, "bin", "moor"), link);
    const { code, out, err } = await startProcess([link, "--version"], { cwd: folder }).ended;
    expect([code, out, err]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/), ""]);
  });

  test("on no Node that is too old for it, and says so", async () => {
    const pretend = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.19.2" } })`;
    const old = ["--import", `data:text/javascript,${encodeURIComponent(pretend)}`];
    const { code, err } = await startProcess([node, ...old, program, "--version"], { cwd: folder }).ended;
    expect([code, err]).toEqual([2, expect.stringMatching(/^moor needs Node 24 or newer, .* is 20\.19\.2; .*\n$/)]);
  });
});
