import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtPackage } from "../rig/bundle.ts";
import { makeDevice } from "../rig/device.ts";
import { worthTyping } from "../rig/moor.ts";
import { type Namespace, node, openNamespace, repository } from "../rig/namespace.ts";
import { testLimit } from "../rig/patience.ts";

/** moor as npm packs and installs it, without its sources and without a registry to ask for dependencies. */
let folder: string;
let installed: string;
let inside: Namespace;
const moor = (...words: string[]) => [node, join(folder, "prefix/bin/moor"), ...words] as const;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-packed-"));
  const npm = (...words: string[]) => execFileSync("npm", words, { cwd: folder, encoding: "utf8", stdio: "pipe" });
  const [packed = ""] = npm("pack", "--silent", builtPackage()).trim().split("\n").slice(-1);
  npm("install", "--offline", "--global", "--prefix", "prefix", `./${packed}`);
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

  it("is small", () => {
    const bytes = readdirSync(installed, { recursive: true, encoding: "utf8" })
      .map((name) => statSync(join(installed, name)))
      .reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
    expect(bytes).toBeLessThan(15e6);
  });

  it("has the licences of what is in it", () => {
    const text = readFileSync(join(installed, "licences.txt"), "utf8");
    for (const name of ["fastify", "pg", "@peculiar/x509", "react-dom", "@mantine/core", "Swagger UI"])
      expect(text).toMatch(new RegExp(`^${name} \\d+.* \\((?:MIT|Apache-2.0)\\)`, "m"));
  });

  it("runs as moor up: pages, APIs and DNS", async () => {
    const up = inside.start(moor("up", "--data", "data"), { cwd: folder });
    await up.says(/Ctrl-C stops it/);
    const { version } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));
    const said = `${version} (commit tested, Node ${process.versions.node})\n`;
    expect((await inside.run(moor("--version"))).out).toBe(said);
    const shell = `moor() { '${moor().join("' '")}' "$@"; }`;
    const lines = worthTyping(up.out());
    expect(lines.filter((line) => line.startsWith("moor "))).toHaveLength(2);
    for (const line of lines) {
      const { code, out, err } = await inside.run(["bash", "-c", `${shell}; ${line}`], { cwd: folder });
      expect({ line, code, err, said: out !== "" }).toEqual({ line, code: 0, err: "", said: true });
    }
    for (const path of ["8053/", "8053/docs", "8443/"]) {
      const url = `https://127.0.0.1:${path}`;
      const page = ["curl", "-sk", "-w", "%{http_code} %{content_type}", url] as const;
      const { out } = await inside.run(page);
      expect(out).toMatch(/200 text\/html; charset=utf-8$/);
      const assets = [...out.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(
        ([, asset]) => new URL(asset ?? "", url),
      );
      expect(assets.length).toBeGreaterThan(1);
      for (const asset of assets) {
        const { out: sent } = await inside.run(["curl", "-sk", "-o", "/dev/null", "-w", "%{http_code}", asset.href]);
        expect([asset.pathname, sent]).toEqual([asset.pathname, "200"]);
      }
    }
    expect((await up.stop("SIGINT")).code).toBe(0);
  });

  it("loads modules that only lists need", async () => {
    const { code, out, err } = await inside.run(moor("token", "list", "--data", "data", "--json"), { cwd: folder });
    expect({ code, err, names: JSON.parse(out).map(({ name }: { name: string }) => name) }).toEqual({
      code: 0,
      err: "",
      names: [expect.any(String)],
    });
  });

  it("answers DNS with worker threads", async () => {
    const words = ["records", "--data", "data", "--listen", "127.0.0.1:8154", "--dns", "127.0.0.1:8153"];
    const records = inside.start(moor(...words, "--dns-workers", "1"), { cwd: folder });
    await records.says(/The nameserver listens/);
    const { out } = await inside.run(["dig", "+short", "@127.0.0.1", "-p", "8153", "home.test", "SOA"]);
    expect(out).toMatch(/^\S+ \S+ \d+ \d+ \d+ \d+ \d+\n$/);
    expect((await records.stop("SIGINT")).code).toBe(0);
  });
});
