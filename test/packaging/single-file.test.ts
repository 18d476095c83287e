import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtPackage } from "../rig/bundle.ts";
import { makeDevice } from "../rig/device.ts";
import { type Namespace, node, openNamespace, repository } from "../rig/namespace.ts";
import { testLimit } from "../rig/patience.ts";
import { newcomerSuite } from "./newcomer.suite.ts";

/** moor and Node in one file, in a folder that has nothing else. */
let folder: string;
let inside: Namespace;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-single-file-"));
  const words = ["--dist", builtPackage(), "--output", join(folder, "moor")];
  execFileSync(node, [join(repository, "scripts/build-single-file.ts"), ...words], { stdio: "pipe" });
  inside = await openNamespace();
  await (await makeDevice(inside, "wan0")).readdress({ ipv4: "9.9.1.1" });
}, 9 * testLimit);
afterAll(async () => {
  await inside?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("the single file", () => {
  newcomerSuite(() => ({ inside, folder, program: "./moor", path: [] }));

  it("comes with the licences of its components", () => {
    const text = readFileSync(join(folder, "moor.licences.txt"), "utf8");
    expect(text).toMatch(/^fastify \d/m);
    expect(text).toMatch(/Node\.js contributors/);
  });
});
