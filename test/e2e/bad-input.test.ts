import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runMoor as runHere } from "../../src/cli/program.ts";
import { openTerminal } from "../rig/cli/terminal.ts";
import { administer } from "../rig/moor.ts";
import { until } from "../rig/until.ts";
import { makeCertificate } from "../rig/updater/certificates.ts";
import { makeUpdaterHome } from "../rig/updater-home.ts";

/**
 * In this process: none of these commands gets as far as its services. loop.test.ts asks those for what is not there.
 */
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-e2e-bad-"));
  const [tokenFile, keyFile, caFile] = ["token", "key", "ca.pem"].map((name) => join(folder, name)) as Three;
  await administer(["token", "add", "--new", "--data", join(folder, "data"), "--to", tokenFile]);
  await administer(["key", "add", "--new", "--data", join(folder, "data"), "--to", keyFile]);
  writeFileSync(caFile, makeCertificate("IP:127.0.0.1").ca);
  const urls = { firewall: "https://127.0.0.1:1", records: "https://127.0.0.1:1" };
  const names = { zone: "example.org", name: "home", device: "wan9" };
  makeUpdaterHome(folder, { ...{ tokenFile, keyFile, caFile }, ...urls, ...names });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
type Three = [string, string, string];

type Typed = [words: string, code: number, ...says: RegExp[]];

/** The command line, its exit code, and what it prints to standard error; nothing goes to standard output. */
const typed: Typed[] = [
  ["up --interface l0 --data up", 2, /There is no interface l0\. Did you mean lo\? The interfaces are: .*\blo\b/],
  ["updat", 2, /unknown command 'updat'\n\(Did you mean update\?\)/],
  ["frobnicate", 2, /unknown command 'frobnicate'\n/, /\(see .*moor --help\)/],
  ["token ad", 2, /unknown command 'ad'\n\(Did you mean add\?\)/],
  ["update --onse", 2, /unknown option '--onse'\n\(Did you mean --once\?\)/],
  ["key add --privilage all", 2, /unknown option '--privilage'\n\(Did you mean --privilege\?\)/],
  ["update now", 2, /too many arguments/],
  ["list", 2, /missing required argument 'zone'/],
  ["records --listen 8053", 2, /a host and a port, such as 127\.0\.0\.1:8053/],
  ["history --last ten", 2, /It must be a number from 1/],
  ["records --data moor.yaml", 1, /the folder .*moor\.yaml cannot be used: it is a file; choose another folder/],
  ["firewall --data moor.yaml", 1, /the folder .*moor\.yaml cannot be used: it is a file; choose another folder/],
  ["token list --data moor.yaml", 1, /the folder .*moor\.yaml cannot be used: it is a file; choose another folder/],
  ["update --log-format xml", 2, /Allowed choices are text, json/],
  ["key add --privilege some --data data", 2, /There is no privilege some; choose from all, interface-status/],
  ["token add --zone a..b --data data", 2, /--zone a\.\.b: .*dots/],
  [
    "update --config none.yaml",
    2,
    /^none\.yaml: there is no such config file; create it with `moor init --config none\.yaml`/,
  ],
  ["list a..b", 2, /^ZONE: .*dots/],
  ["zones --target dnss", 2, /no target dnss; choose from dns; did you mean dns\?/],
  ["interfaces --source walls", 2, /no source walls; choose from wall; did you mean wall\?/],
  ["token revoke 999 --data data", 1, /no token 999 .*moor token list --data data lists/],
  ["token revoke x --data data", 1, /no token x .*moor token list --data data lists/],
  ["key revoke zzz --data data", 1, /no key zzz; .*moor key list --data data lists/],
];

describe("a wrong command line is refused, with a suggestion", () => {
  test.each(typed)("moor %s", async (words, code, ...says) => {
    const { io, printed } = openTerminal(folder);
    expect({ code: await runHere(words.split(" "), io), out: printed.out }).toEqual({ code, out: "" });
    for (const pattern of says) expect(printed.err).toMatch(pattern);
  });
});

test("all faults of a config are reported together, each with its line", async () => {
  const text = `interval: soon
colour: red
sources:
  wall: { url: "ftp://x", key: hunter2 }
targets:
  dns: { api: v9, url: "https://127.0.0.1:1", token: { file: none } }
names:
  - { name: home, zone: a..b, ipv4: wan0 }
  - { name: home }
`;
  writeFileSync(join(folder, "bad.yaml"), text);
  for (const words of [["update", "--check"], ["update", "--once"], ["zones"]]) {
    const { io, printed } = openTerminal(folder);
    const code = await runHere([...words, "--config", "bad.yaml"], io);
    expect({ code, out: printed.out }).toEqual({ code: 2, out: "" });
    const places = printed.err.match(/^bad\.yaml:\d+(?=:\d+: )/gm);
    expect(new Set(places)).toEqual(new Set([1, 2, 4, 6, 8, 9].map((line) => `bad.yaml:${line}`)));
    expect(places?.length).toBe(printed.err.trim().split("\n").length);
    expect(printed.err).not.toContain("hunter2");
  }
});

describe("a damaged database prevents the start, with what to do, and is not changed", () => {
  const garbage = Buffer.alloc(8192, "not a database ");
  const damaged: [verb: string, file: string][] = [
    ["firewall --listen 127.0.0.1:0", "firewall.sqlite"],
    ["records --listen 127.0.0.1:0", "records.sqlite"],
    ["up --interface lo --records 127.0.0.1:0 --firewall 127.0.0.1:0", "records.sqlite"],
    ["token list", "records.sqlite"],
    ["key list", "firewall.sqlite"],
  ];
  test.each(damaged)("moor %s", async (words, file) => {
    const data = mkdtempSync(join(folder, "damaged-"));
    writeFileSync(join(data, file), garbage);
    const { io, printed } = openTerminal(folder);
    expect(await runHere([...words.split(" "), "--data", data], io)).toBe(1);
    expect(printed.err).toContain(`the database ${join(data, file)} cannot be used: `);
    expect(printed.err).toMatch(/Replace the file with a good copy, or move it away/);
    expect(readFileSync(join(data, file))).toEqual(garbage);
  });

  test("also if only some of its pages are damaged", async () => {
    const data = join(folder, "pages");
    const { io, printed } = openTerminal(folder);
    await runHere(["token", "add", "--new", "--data", data, "--to", "unused"], io);
    const file = join(data, "records.sqlite");
    writeFileSync(file, readFileSync(file).fill(0xa5, 8192, 16_384));
    expect(await runHere(["records", "--data", data, "--listen", "127.0.0.1:0"], io)).toBe(1);
    expect(printed.err).toMatch(/cannot be used: its integrity check failed[\s\S]*Replace the file with a good copy/);
  });
});

test("moor up sets a damaged state file aside, with a warning", async () => {
  const data = join(folder, "up-damaged");
  mkdirSync(data);
  writeFileSync(join(data, "up-state.json"), "{");
  const stop = new AbortController();
  const { io, printed } = openTerminal(folder, stop.signal);
  const ports = ["records", "firewall", "dns", "updater"].flatMap((part) => [`--${part}`, "127.0.0.1:0"]);
  const running = runHere(["up", "--interface", "lo", "--data", data, ...ports], io);
  const warning = /warning: the state file \S+ was damaged: it is kept as /;
  await until(() => warning.test(printed.out + printed.err), {
    what: () => `${warning}: ${printed.out}${printed.err}`,
  });
  stop.abort();
  expect(await running).toBe(0);
  expect(readdirSync(data).filter((name) => name.startsWith("up-state.json.damaged-"))).toHaveLength(1);
});
