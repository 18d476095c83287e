import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { createLog } from "../../process/log.ts";
import { type RunningRecords, startRecords } from "../../records/start.ts";
import { runMoor } from "../program.ts";
import { notePublisher } from "../records/publisher.ts";

let folder: string;
let service: RunningRecords;
let zone: string;
let zones = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "moor-manage-"));
  const nameservers = ["ns1.example.net", "ns2.example.net"] as const;
  service = await startRecords({
    dataFolder: join(folder, "data"),
    listen: { host: "127.0.0.1", port: 0 },
    names: [],
    nameservers,
    log: createLog({ format: "text", level: "error", write: (line) => process.stderr.write(line) }),
  });
  await notePublisher(join(folder, "data"), { nameservers });
  await moor("token add --data data --to token");
  const target = `{ api: rrsets, url: "${service.url}", token: { file: token }, ca: data/ca.pem }`;
  writeFileSync(
    join(folder, "moor.yaml"),
    `sources: { here: { kind: interface } }\ntargets: { dns: ${target} }\nnames: [{ name: a, zone: example.org, ipv4: lo }]\n`,
  );
});
afterAll(() => service.close());
beforeEach(() => {
  zones += 1;
  zone = `zone${zones}.example`;
});

async function moor(line: string, ...more: readonly string[]) {
  const { io, printed } = openTerminal(folder);
  const code = await runMoor([...line.split(" "), ...more], io);
  return { code, ...printed };
}

describe.each([
  ["over the API", ""],
  ["in the store, while its service runs", " --data data"],
])("%s", (_, where) => {
  const run = (line: string, ...more: readonly string[]) => moor(`${line}${where}`, ...more);
  const json = async (line: string, ...more: readonly string[]) =>
    JSON.parse((await run(`${line} --json`, ...more)).out);

  it("a zone is created once, listed, and deleted once", async () => {
    expect(await run(`zone add ${zone}`)).toMatchObject({
      code: 0,
      out: `Created ${zone}\nAt the registrar, enter these nameservers: ns1.example.net., ns2.example.net.\n`,
    });
    expect(await run(`zone add ${zone}`)).toMatchObject({ code: 0, out: `Exists already: ${zone}\n` });
    expect((await run("zone list")).out).toMatch(new RegExp(`^${zone} +primary +\\d+ +\\d+$`, "m"));
    expect(await run(`zone delete ${zone}`)).toMatchObject({ code: 2, err: expect.stringContaining("add --yes") });
    expect(await json(`zone delete ${zone} --yes`)).toEqual({ zone, changed: true });
    expect(await run(`zone delete ${zone} --yes`)).toMatchObject({ code: 0, out: `There is no zone ${zone}\n` });
  });

  it("the shell completes its zones, the names in them, and then files", async () => {
    await run(`zone add ${zone}`);
    const complete = async (line: string, typed: string) =>
      (await moor("complete --", ...`${line}${where}`.split(" "), typed)).out;
    expect(await complete("zone export", zone.slice(0, -3))).toBe(`${zone}\t\n:4\n`);
    expect(await complete("record set", `home.${zone.slice(0, -3)}`)).toBe(`home.${zone}\t\n:4\n`);
    expect(await complete("zone add", zone.slice(0, -3))).toBe(":0\n");
    expect(await complete(`zone import ${zone}`, "")).toBe(":0\n");
  });

  it("records are set, added and removed, and nothing happens the second time", async () => {
    await run(`zone add ${zone}`);
    const name = `home.${zone}`;
    const set = () => run(`record set ${name} A 203.0.113.7`);
    expect(await set()).toMatchObject({ code: 0, out: `${name} A: 203.0.113.7, was: none\n` });
    expect(await set()).toMatchObject({ code: 0, out: `${name} A: 203.0.113.7, unchanged\n` });
    expect(await run(`record set ${name} A 203.0.113.8 --ttl 120`)).toMatchObject({
      out: `${name} A: 203.0.113.8 (TTL 120), was: 203.0.113.7\n`,
    });
    const add = () => json(`record add ${name} AAAA 2001:DB8::1 2001:db8::2`);
    expect(await add()).toMatchObject({ changed: true, values: expect.arrayContaining(["2001:db8::2"]) });
    expect(await add()).toMatchObject({ changed: false });
    const remove = () => json(`record remove ${name} AAAA 2001:db8:0::2`);
    expect(await remove()).toMatchObject({ changed: true, values: [expect.stringMatching(/^2001:db8::1$/i)] });
    expect(await remove()).toMatchObject({ changed: false });
    expect(await json(`record remove ${name} A`)).toEqual({ name, type: "A", ttl: null, values: [], changed: true });
    expect(await json(`record remove ${name} A`)).toMatchObject({ changed: false });
  });

  it("records are listed as a table, or for programs", async () => {
    await run(`zone add ${zone}`);
    await run(`record set home.${zone} A 203.0.113.7 203.0.113.8 --ttl 120`);
    const listed = await run(`record list ${zone}`);
    expect(listed).toMatchObject({ code: 0, err: "", out: expect.stringMatching(/^home +A +120 +203\.0\.113\.8\b/m) });
    expect(await json(`record list ${zone}`)).toContainEqual(
      expect.objectContaining({ name: "home", type: "A", value: "203.0.113.7" }),
    );
    expect(await run("record list nowhere.example")).toMatchObject({ code: 1, out: "" });
  });

  it("a text needs no quotation marks, and the apex is the name of the zone", async () => {
    await run(`zone add ${zone}`);
    expect(await run("record set", zone, "txt", 'v=spf1 "-all"')).toMatchObject({
      code: 0,
      out: `${zone} TXT: "v=spf1 \\"-all\\"", was: none\n`,
    });
  });

  it("a target with a dot inside and none at its end is not guessed, and whole names are printed", async () => {
    await run(`zone add ${zone}`);
    for (const verb of ["set", "add", "remove"])
      expect(await run(`record ${verb} www.${zone} MX`, "10 mail.provider.net")).toEqual({
        code: 2,
        out: "",
        err: `mail.provider.net has no final dot. Write mail.provider.net. if that is the whole name, or mail.provider.net.${zone}. for a name in the zone\n`,
      });
    expect((await run(`record set www.${zone} MX`, "10 mail")).out).toBe(
      `www.${zone} MX: 10 mail.${zone}., was: none\n`,
    );
    expect(await json(`record add www.${zone} MX`, "20 Mail.provider.net.")).toMatchObject({
      values: expect.arrayContaining([`10 mail.${zone}.`, "20 mail.provider.net."]),
    });
    expect((await run(`record set www.${zone} MX`, "10 mail")).out).toMatch(/, was: .*20 mail\.provider\.net\./);
  });

  it("rare types have their names and texts, as in zone files", async () => {
    await run(`zone add ${zone}`);
    const set = () => run(`record set host.${zone} sshfp 4 2`, "22".repeat(32));
    expect((await run(`record set host.${zone} SSHFP`, `4 2 ${"22".repeat(32)}`)).out).toBe(
      `host.${zone} SSHFP: 4 2 ${"22".repeat(32)}, was: none\n`,
    );
    expect((await set()).err).toMatch(/SSHFP records take algorithm, digest type and fingerprint, such as/);
    const generic = ["\\# 34 0402", "22".repeat(32)].join("");
    expect(await json(`record set host.${zone} TYPE44`, generic)).toMatchObject({ type: "SSHFP", changed: false });
    expect((await run(`record set old.${zone} DNAME new.example.`)).code).toBe(0);
    const exported = (await run(`zone export ${zone}`)).out;
    expect(exported).toMatch(/^host\tIN\tSSHFP\t4 2 2222/m);
    expect(exported).toMatch(/^old\tIN\tDNAME\tnew\.example\.$/m);
  });

  const write = (...lines: readonly string[]) => writeFileSync(join(folder, "zone.txt"), `${lines.join("\n")}\n`);
  const old = ["$TTL 300", "@ SOA ns.old. h.old. 1 2 3 4 5", "@ NS ns.old."];
  const exported = async () => (await run(`zone export ${zone}`)).out;

  it("a file is shown, then imported once; the zone keeps its nameservers, or gets those of the file", async () => {
    write(...old, "www A 192.0.2.1", "@ MX 10 mail");
    const shown = await run(`zone import ${zone} zone.txt`);
    expect(shown.out).toMatch(/^\S+ +new +2 +2 to create$/m);
    expect(shown.out).toMatch(/Nothing was written/);
    expect((await run(`zone export ${zone}`)).code).toBe(1);
    const into = async () => (await json(`zone import ${zone} zone.txt --yes`)).zones[0].state;
    expect([await into(), await into()]).toEqual(["new", "equal"]);
    expect(await exported()).toMatch(/NS\tns1\.example\.net\./);
    expect(await exported()).not.toContain("ns.old.");
    expect((await run(`zone import ${zone} zone.txt --file-nameservers --yes`)).code).toBe(0);
    expect((await run(`zone export ${zone} --to out.txt`)).code).toBe(0);
    expect(readFileSync(join(folder, "out.txt"), "utf8")).toContain("ns.old.");
  });

  it("an import counts what it would create, replace and remove; a merge removes nothing, and keeps labels", async () => {
    write("$TTL 3600", "www A 192.0.2.1", "gone A 192.0.2.2");
    await run(`zone import ${zone} zone.txt --yes`);
    write("$TTL 300", "www A 192.0.2.9", "new A 192.0.2.3");
    const shown = async (flags: string) => (await run(`zone import ${zone} zone.txt${flags}`)).out;
    expect(await shown("")).toMatch(/ different +2 +1 to create, 1 to replace, 1 to remove$/m);
    expect(await shown("")).toMatch(/its default TTL changes from 3600 to 300 seconds/);
    expect(await shown(" --merge")).toMatch(/ different +2 +1 to create, 1 to replace$/m);
    expect(await shown(" --merge --yes")).toMatch(/ imported +2 /);
    const text = await exported();
    expect(text).toMatch(/^\$TTL\t3600$/m);
    expect(text).toMatch(/^gone\tIN\tA\t192\.0\.2\.2$/m);
    expect(text).toMatch(/^new\tIN\t300\tA\t192\.0\.2\.3$/m);
    expect(await shown(" --merge")).toMatch(/is equal/);
  });

  it("what stays keeps its TTL under another default; TTLs below 60 are raised, and named", async () => {
    await run(`zone add ${zone}`);
    write("$TTL 120", "www A 192.0.2.1", "fast 5 A 192.0.2.2");
    const { out } = await run(`zone import ${zone} zone.txt --yes`);
    expect(out).toMatch(/TTLs below 60 seconds are raised to 60: fast A$/m);
    const text = await exported();
    expect(text).toMatch(/^@\tIN\t3600\tSOA\t/m);
    expect(text).toMatch(/^@\tIN\t3600\tNS\t/m);
    expect(text).toMatch(/^fast\tIN\t60\tA\t/m);
    expect((await run(`zone import ${zone} zone.txt`)).out).toMatch(/is equal/);
  });

  it("a preview refuses what the service would refuse, and a missing file is named", async () => {
    await run(`zone add ${zone}`);
    write("www A 192.0.2.1", "www CNAME x", "mail MX 10 192.0.2.1.");
    expect(await run(`zone import ${zone} zone.txt`)).toMatchObject({
      code: 1,
      out: expect.stringMatching(/not done: .*CNAME/),
    });
    expect((await run(`zone import ${zone} -`)).err).toMatch(/\/- does not exist; - does not mean standard input/);
  });

  it.each([
    [
      "record set a.nowhere.test A 192.0.2.1",
      1,
      /No zone of this service contains a\.nowhere\.test; create it with: moor zone add/,
    ],
    ["record set a.ZONE A 192.0.2", 1, /^Not done: .*192\.0\.2/],
    ["record set a.ZONE NOPE 1", 2, /NOPE is not a record type/],
    ["record set a..b A 192.0.2.1", 2, /dots/],
    ["zone export missing.test", 1, /^Not done: .*not found/],
    ["zone add co.uk", 1, /^Not done: co\.uk is a public suffix: .*; use another name, or ask the operator/],
  ])("says why not: %s", async (line, code, said) => {
    await run(`zone add ${zone}`);
    const refused = await run(line.replace("ZONE", zone));
    expect(refused).toMatchObject({ code, out: "" });
    expect(refused.err).toMatch(said);
  });
});

it("without a config and a data folder, both are named", async () => {
  const { code, err } = await moor("zone list --config nothing.yaml");
  expect(code).toBe(2);
  expect(err).toMatch(/nothing\.yaml: there is no such config file.*\n.*--data/);
});
