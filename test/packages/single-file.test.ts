import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Namespace, openNamespace } from "../rig/namespace.ts";
import { aptInstall, makeCleanRoot, run } from "./clean-root.ts";
import { keptZoneSuite } from "./kept-zone.suite.ts";
import { build } from "./release-files.ts";

let root: string;
let inside: Namespace;

beforeAll(async () => {
  root = makeCleanRoot();
  // The one library of Node's that a minimal Debian does not have.
  aptInstall(root, "libatomic1");
  build("single-file", join(root, "root/moor"));
  mkdirSync(join(root, "root/data"), { mode: 0o700 });
  inside = await openNamespace({ asRoot: true });
});
afterAll(async () => {
  await inside?.close();
  if (root !== undefined) rmSync(root, { recursive: true, force: true });
});

describe("on a clean Debian, the single file", () => {
  it("runs without Node", async () => {
    expect(run("chroot", root, "/root/moor", "--version")).toContain(`Node ${process.versions.node}`);
    expect(() => run("chroot", root, "node", "--version")).toThrow("No such file");
  });

  const listen = ["--listen", "127.0.0.1:8053", "--dns", "127.0.0.1:5300", "--metrics", "127.0.0.1:9054"];
  const data = ["--data", "/root/data"];
  keptZoneSuite(() => ({
    inside,
    start: () => inside.start(["chroot", root, "/root/moor", "records", ...data, ...listen, "--dns-workers", "1"]),
    kill: async (service) => void (await service.stop("SIGKILL")),
    moor: async (...words) => (await inside.run(["chroot", root, "/root/moor", ...words, ...data])).out,
  }));
});
