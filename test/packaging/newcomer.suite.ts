import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isLongRun } from "../rig/long-run.ts";
import { worthTyping } from "../rig/moor.ts";
import { environment, type Namespace, repository } from "../rig/namespace.ts";

/** moor without its sources, on a machine with one interface: `wan0` with the address 9.9.1.1. */
export type Installed = {
  readonly inside: Namespace;
  /** An empty folder to work in. */
  readonly folder: string;
  /** What to type there to run it. */
  readonly program: string;
  /** Folders that must be on the PATH. */
  readonly path: readonly string[];
};

/** What a newcomer does with moor, however it was installed. */
export function newcomerSuite(installed: () => Installed): void {
  const shell = (line: string) => {
    const { inside, folder, path } = installed();
    const env = { PATH: [...path, environment.PATH].join(":") };
    return inside.start(["bash", "-c", line], { cwd: folder, env });
  };
  const moor = (words: string) => shell(`exec ${installed().program} ${words}`);
  /** With one curl, which starts more slowly than it fetches. */
  const fetched = async (urls: readonly string[], output = "") => {
    const each = urls.map((url) => `${output} ${url}`).join(" ");
    return (await shell(`curl -sS --cacert data/ca.pem -w '%{http_code} %{content_type}\\n' ${each}`).ended).out.trim();
  };

  it("prints its version, the commit and the runtime", async () => {
    const { version } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));
    const { out, err } = await moor("--version").ended;
    expect([out, err]).toEqual([`${version} (commit tested, Node ${process.versions.node})\n`, ""]);
  });

  it("runs as moor up: pages, APIs and DNS", async () => {
    const up = moor("up --data data --host --examples");
    await up.says(/Ctrl-C stops it/);
    const lines = worthTyping(up.out());
    expect(lines.filter((line) => line.startsWith(`${installed().program} `))).toHaveLength(2);
    // test/e2e/up.test.ts types each of them, and reads what it shows.
    for (const line of isLongRun ? lines : []) {
      const { code, out, err } = await shell(line).ended;
      expect({ line, code, err, said: out !== "" }).toEqual({ line, code: 0, err: "", said: true });
    }
    // As another machine sees it.
    for (const path of ["8053/", "8053/docs", "8443/"]) {
      const url = `https://9.9.1.1:${path}`;
      expect(up.out()).toContain(new URL(url).origin);
      const page = await fetched([url]);
      expect(page).toMatch(/200 text\/html; charset=utf-8$/);
      const assets = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, asset = ""]) => asset);
      expect(assets.length).toBeGreaterThan(1);
      const addresses = assets.map((asset) => new URL(asset, url).href);
      const types = (await fetched(addresses, "-o /dev/null")).split("\n");
      expect(types).toEqual(assets.map(() => expect.stringMatching(/^200 (?:text\/javascript|text\/css|image\/svg)/)));
    }
    expect((await moor("sign-in --data data --firewall").ended).out).toMatch("https://9.9.1.1:8443/sign-in#");
    expect((await up.stop("SIGINT")).code).toBe(0);
  });

  it("loads a part of the program that only some commands need", async () => {
    const { code, out, err } = await moor("token list --data data --json").ended;
    expect({ code, err, names: JSON.parse(out).map(({ name }: { name: string }) => name) }).toEqual({
      code: 0,
      err: "",
      names: [expect.any(String)],
    });
  });

  it("answers DNS with worker threads", async () => {
    const records = moor("records --data data --listen 127.0.0.1:8154 --dns 127.0.0.1:8153 --dns-workers 1");
    await records.says(/The nameserver listens/);
    const { out } = await installed().inside.run(["dig", "+short", "@127.0.0.1", "-p", "8153", "home.test", "SOA"]);
    expect(out).toMatch(/^\S+ \S+ \d+ \d+ \d+ \d+ \d+\n$/);
    expect((await moor("sign-in --data data").ended).out).toMatch("https://127.0.0.1:8154/sign-in#");
    expect((await records.stop("SIGINT")).code).toBe(0);
  });

  it("completes words", async () => {
    const script = await moor("complete bash").ended;
    expect([script.code, script.err]).toEqual([0, ""]);
    expect((await moor("complete -- rec").ended).out).toMatch(/^records\t/m);
  });
}
