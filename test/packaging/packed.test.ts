import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeDevice } from "../rig/device.ts";
import { worthTyping } from "../rig/moor.ts";
import { type Namespace, node, openNamespace, repository } from "../rig/namespace.ts";
import { testLimit } from "../rig/patience.ts";

/** moor as npm packs and installs it: built, without its sources, and with only its declared dependencies. */
let folder: string;
let installed: string;
let inside: Namespace;
const moor = (...words: string[]) => [node, join(installed, "dist", "bin", "moor.js"), ...words] as const;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-packed-"));
  installed = join(folder, "package");
  const clone = join(folder, "clone");
  const notCloned = ["node_modules", "dist", ".git"];
  cpSync(repository, clone, { recursive: true, filter: (path) => !notCloned.includes(basename(path)) });
  symlinkSync(join(repository, "node_modules"), join(clone, "node_modules"));
  // vitest sets NODE_ENV to test, which would build the pages for developers.
  const env = { ...process.env, NODE_ENV: "production" };
  const npm = (...words: string[]) => execFileSync("npm", words, { cwd: clone, env, stdio: "pipe" });
  npm("run", "-s", "build");
  npm("pack", "--ignore-scripts", "--pack-destination", folder);
  execFileSync("tar", ["-xzf", join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "")], {
    cwd: folder,
  });
  const { dependencies } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  for (const name of Object.keys(dependencies)) {
    const link = join(installed, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(repository, "node_modules", name), link);
  }
  inside = await openNamespace();
  await (await makeDevice(inside, "wan0")).readdress({ ipv4: "9.9.1.1" });
  // Builds and packs everything.
}, 9 * testLimit);
afterAll(async () => {
  await inside?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("the package", () => {
  it("has what users need, and no tests", () => {
    const files = readdirSync(installed, { recursive: true, encoding: "utf8" }).filter(
      (name) => !name.startsWith("node_modules"),
    );
    expect(files).toEqual(
      expect.arrayContaining([
        ...["README.md", "LICENSE", "CHANGELOG.md", "moor.sample.yaml", "moor.schema.json", "dist/bin/moor.js"],
        ...["dist/console/records.html", "dist/console/firewall.html", "dist/console/updater.html"],
        ...["packaging/man/moor.1", "packaging/systemd/moor-update.service"],
      ]),
    );
    expect(files.filter((name) => /\.(?:test|suite)\.|\brig\b|^dist\/test\b|\.ts$/.test(name))).toEqual([]);
  });

  it("lists its man page as an array, the only form that npm installs", () => {
    expect(JSON.parse(readFileSync(join(installed, "package.json"), "utf8")).man).toEqual(["packaging/man/moor.1"]);
  });

  it("runs as moor up: pages, APIs and DNS", async () => {
    const up = inside.start(moor("up", "--data", "data"), { cwd: folder });
    await up.says(/Ctrl-C stops it/);
    const { version } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));
    expect((await inside.run(moor("--version"))).out).toBe(`${version}\n`);
    const shell = `moor() { '${moor().join("' '")}' "$@"; }`;
    const lines = worthTyping(up.out());
    expect(lines.filter((line) => line.startsWith("moor "))).toHaveLength(2);
    for (const line of lines) {
      const { code, out, err } = await inside.run(["bash", "-c", `${shell}; ${line}`], { cwd: folder });
      expect({ line, code, err, said: out !== "" }).toEqual({ line, code: 0, err: "", said: true });
    }
    for (const port of [8053, 8443]) {
      const page = ["curl", "-sk", "-o", "/dev/null", "-w", "%{http_code} %{content_type}"] as const;
      const { out } = await inside.run([...page, `https://127.0.0.1:${port}/`]);
      expect(out).toBe("200 text/html; charset=utf-8");
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
