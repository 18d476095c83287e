import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { builtProgram } from "../rig/bundle.ts";
import { makeDevice } from "../rig/device.ts";
import { isLongRun } from "../rig/long-run.ts";
import { worthTyping } from "../rig/moor.ts";
import { environment, type Namespace, node, openNamespace, repository } from "../rig/namespace.ts";
import type { Ended, StartedProcess } from "../rig/started-process.ts";

/**
 * Run as a newcomer would, in a folder whose name a shell would split: installed, with `moor` on the PATH. A long run
 * starts it in a clone instead, from source, which takes twice the time to load.
 */
let inside: Namespace;
let cwd: string;
let up: StartedProcess;
const said: string[] = [];
const data = () => join(cwd, "my data");
const inData = (name: string) => readFileSync(join(data(), name), "utf8");

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), "moor-e2e-up-"));
  symlinkSync(program(), join(cwd, "moor"));
  inside = await openNamespace();
  const wan = await makeDevice(inside, "wan0");
  await wan.readdress({ ipv4: "9.9.1.1", ipv6: "2a00:1::1" });
  up = await start();
});
afterAll(async () => {
  await inside?.close();
  rmSync(cwd, { recursive: true, force: true });
});

const program = () => (isLongRun ? join(repository, "bin/moor.ts") : builtProgram());
const path = () => [cwd, dirname(node), environment.PATH].join(":");

async function start(): Promise<StartedProcess> {
  const words = ["up", "--data", "my data", "--examples"];
  const started = inside.start([node, program(), ...words], { cwd });
  await started.says(/Ctrl-C stops it/);
  return started;
}

async function paste(line: string): Promise<Ended> {
  const ended = await inside.run(["bash", "-c", line], { cwd, env: { PATH: path() } });
  said.push(ended.out, ended.err);
  return ended;
}

describe("the first start", () => {
  it("creates what is needed, and prints what it created and where it listens", () => {
    const made = up.out().match(/^ {2}created .*$/gm) ?? [];
    expect(made.map((line) => line.replace(/^ {2}created +/, ""))).toEqual([
      `a key that may read the interfaces, in ${data()}/firewall-key.txt`,
      `a token for the record service, in ${data()}/records-token`,
      "the zone home.test",
      expect.stringMatching(/^the record \S+\.home\.test A$/),
      expect.stringMatching(/^the record \S+\.home\.test AAAA$/),
    ]);
    expect(up.out()).toMatch(/record service +https:\/\/127\.0\.0\.1:8053 /);
    expect(up.out()).toMatch(/firewall status +https:\/\/127\.0\.0\.1:8443\n/);
  });

  it("finds the interface that has addresses, and writes them", () => {
    expect(up.out()).toMatch(/follows wan0:/);
    expect(up.out()).toMatch(/\S+\.home\.test A: replaced by 9\.9\.1\.1/);
    expect(up.out()).toMatch(/\S+\.home\.test AAAA: replaced by 2a00:1::1/);
  });

  it("makes its files readable only by the owner", () => {
    expect(statSync(data()).mode & 0o777).toBe(0o700);
    const modes = readdirSync(data()).map((name) => [name, statSync(join(data(), name)).mode & 0o777] as const);
    expect(modes.length).toBeGreaterThan(5);
    // Certificates are public.
    for (const [name, mode] of modes) expect([name, mode]).toEqual([name, name.endsWith(".pem") ? 0o644 : 0o600]);
  });
});

/** What each printed line must show when it is pasted unchanged. */
const lines: [string, RegExp, (out: string) => void][] = [
  [
    "the records",
    /curl .*\/api\/v1\/records$/,
    (out) => {
      const values = (JSON.parse(out) as { records: { value: string }[] }).records.map(({ value }) => value);
      expect(values).toEqual(expect.arrayContaining(["9.9.1.1", "2a00:1::1"]));
    },
  ],
  [
    "the interfaces",
    /curl .*\/getinterfaceconfig$/,
    (out) => {
      const { wan0 } = JSON.parse(out) as { wan0: { ipv4: { ipaddr: string }[] } };
      expect(wan0.ipv4[0]?.ipaddr).toBe("9.9.1.1");
    },
  ],
  [
    "which address is taken",
    /moor interfaces /,
    (out) => expect(out).toMatch(/^wan0 +up +9\.9\.1\.1 +A +would be used/m),
  ],
  [
    "the zone as a table",
    /moor record list home\.test /,
    (out) => expect(out).toMatch(/^\S+ +A +60 +9\.9\.1\.1 +\S+$/m),
  ],
  ["the name in DNS", /^dig .*home\.test A \S+ AAAA$/, (out) => expect(out).toBe("9.9.1.1\n2a00:1::1\n")],
  ["the config", /^cat /, (out) => expect(out).toMatch(/^sources:\n[\s\S]*^names:\n/m)],
];

describe("the suggested commands", () => {
  test.each(lines)("%s", async (_, wanted, shows) => {
    const line = worthTyping(up.out()).find((each) => wanted.test(each)) ?? "";
    expect(line).toMatch(wanted);
    const { code, out, err } = await paste(line);
    expect([code, err]).toEqual([0, ""]);
    shows(out);
  });

  it("are all tried here", () => {
    const untried = worthTyping(up.out()).filter((line) => !lines.some(([, wanted]) => wanted.test(line)));
    expect(untried).toEqual([]);
  });
});

describe("stopping and starting again", () => {
  it("follows a change, from the interface to the answer of dig, and stops cleanly on Ctrl-C", async () => {
    // The new address first: changes are pushed, so a moment without an address would be reported too.
    await inside.ip("addr add 9.9.2.2/24 dev wan0", "addr del 9.9.1.1/24 dev wan0");
    await up.says(/record replaced by 9\.9\.2\.2/);
    const dig = worthTyping(up.out()).find((line) => line.startsWith("dig ")) ?? "";
    expect((await paste(dig)).out).toBe("9.9.2.2\n2a00:1::1\n");
    const ended = await up.stop("SIGINT");
    expect(ended.code).toBe(0);
    expect(ended.out).toMatch(/\nStopping\.\n$/);
    expect(ended.err).not.toMatch(/warn|error/);
  });

  it("uses the existing data", async () => {
    const kept = ["ca.pem", "ca.key", "server.pem", "records-token", "firewall-key.txt"];
    const before = kept.map(inData);
    const mine = inData("up.yaml").replace("names:\n", "names:\n  # mine\n");
    writeFileSync(join(data(), "up.yaml"), mine);
    const first = up;
    up = await start();
    expect(up.out()).not.toMatch(/^ {2}created /m);
    expect(up.out()).toMatch(/\.home\.test A: left as it is: the address is still 9\.9\.2\.2/);
    expect(kept.map(inData)).toEqual(before);
    expect(inData("up.yaml")).toBe(mine);
    writeFileSync(join(data(), "up.yaml"), mine.replace("verify: 5m", "verify: 10m"));
    await up.says(/the config was reloaded/);
    expect(worthTyping(up.out())).toEqual(worthTyping(first.out()));
    said.push(first.out(), first.err());
    expect(await up.stop("SIGTERM")).toMatchObject({ code: 0 });
  });

  it("has never printed a secret", () => {
    const secrets = `${inData("records-token")}${inData("firewall-key.txt").replaceAll(/^\w+=/gm, "")}`
      .trim()
      .split("\n");
    expect(secrets.map(({ length }) => length)).toEqual([32, 80, 80]);
    const everything = [...said, up.out(), up.err()].join("");
    for (const secret of secrets) expect(everything).not.toContain(secret);
    expect(everything).not.toContain("PRIVATE KEY");
  });
});
