import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtPackage } from "../rig/bundle.ts";
import { makeDevice } from "../rig/device.ts";
import { type Namespace, node, openNamespace } from "../rig/namespace.ts";
import { testLimit } from "../rig/patience.ts";
import { newcomerSuite } from "./newcomer.suite.ts";

/** moor as npm packs and installs it, without its sources and without a registry to ask for dependencies. */
let folder: string;
let installed: string;
let inside: Namespace;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-packed-"));
  // With --install-links, npm packs the folder before it installs it.
  const words = ["install", "--offline", "--install-links", "--global", "--prefix", "prefix", builtPackage()];
  execFileSync("npm", words, { cwd: folder, stdio: "pipe" });
  installed = join(folder, "prefix/lib/node_modules/moor");
  inside = await openNamespace();
  await (await makeDevice(inside, "wan0")).readdress({ ipv4: "9.9.1.1" });
}, 9 * testLimit);
afterAll(async () => {
  await inside?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("the package", () => {
  it("has what users need, and neither tests, sources nor other packages", () => {
    const files = readdirSync(installed, { recursive: true, encoding: "utf8" });
    expect(files).toEqual(
      expect.arrayContaining([
        ...["README.md", "LICENSE", "CHANGELOG.md", "moor.sample.yaml", "moor.schema.json", "program/moor.js"],
        ...["console/records.html", "console/firewall.html", "console/updater.html", "console/docs.html"],
        ...["packaging/man/moor.1", "packaging/systemd/moor-update.service", "licences.txt"],
      ]),
    );
    expect(files.filter((name) => /\.(?:test|suite)\.|\brig\b|\.ts$|\.map$|node_modules/.test(name))).toEqual([]);
    expect(readdirSync(join(folder, "prefix/lib/node_modules"))).toEqual(["moor"]);
    expect(existsSync(join(folder, "prefix/share/man/man1/moor.1"))).toBe(true);
  });

  it("has every page that its README links to", () => {
    const readme = readFileSync(join(installed, "README.md"), "utf8");
    const links = [...readme.matchAll(/\]\(([^)#:]+)[^):]*\)/g)].map(([, target = ""]) => target);
    expect(links).toContain("docs/getting-started.md");
    expect(links.filter((link) => !existsSync(join(installed, link)))).toEqual([]);
  });

  it("is small", () => {
    const bytes = readdirSync(installed, { recursive: true, encoding: "utf8" })
      .map((name) => statSync(join(installed, name)))
      .reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
    expect(bytes).toBeLessThan(15e6);
  });

  it("has the licences of its components", () => {
    const text = readFileSync(join(installed, "licences.txt"), "utf8");
    for (const name of ["fastify", "pg", "@peculiar/x509", "react-dom", "@mantine/core", "swagger-ui-dist"])
      expect(text).toMatch(new RegExp(`^${name} \\d+.* \\((?:MIT|Apache-2.0)\\)`, "m"));
  });

  /** Start time and memory depend on how much is read. Each limit is far below the size of the HTTP server's part. */
  it.each([
    ["--version", 300_000],
    ["token list --data .", 500_000],
    ["update --config moor.sample.yaml", 920_000],
  ])("moor %s reads no more than %i bytes of it", async (words, most) => {
    const count = `
      import { readFileSync } from "node:fs";
      import { registerHooks } from "node:module";
      let read = 0;
      registerHooks({ load: (url, context, next) => {
        if (url.includes("/program/")) read += readFileSync(new URL(url)).length;
        return next(url, context);
      } });
      process.on("exit", () => process.stderr.write("read " + read));`;
    const counted = [node, "--import", `data:text/javascript,${encodeURIComponent(count)}`] as const;
    const program = join(installed, "program/moor.js");
    const { err } = await inside.run([...counted, program, ...words.split(" ")], { cwd: installed });
    const read = Number(/read (\d+)$/.exec(err)?.[1]);
    expect(read).toBeGreaterThan(50_000);
    expect(read).toBeLessThan(most);
  });

  newcomerSuite(() => ({ inside, folder, program: "moor", path: [join(folder, "prefix/bin"), dirname(node)] }));
});
