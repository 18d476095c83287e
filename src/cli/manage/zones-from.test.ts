import { writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { startUpdateServer, tsigSecret } from "../../../test/rig/updater/update-servers.ts";
import { createLog } from "../../process/log.ts";
import { type RunningRecords, startRecords } from "../../records/start.ts";
import { runMoor } from "../program.ts";

/** `there` is another moor, which stands in for Hetzner; the zones come into the store `here`. */
let folder: string;
let there: RunningRecords;
const from = () => `--from hetzner --from-url ${there.url} --from-token token --from-ca there/ca.pem`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "moor-zones-from-"));
  there = await startRecords({
    dataFolder: join(folder, "there"),
    listen: { host: "127.0.0.1", port: 0 },
    names: [],
    nameservers: ["ns1.old.example"],
    log: createLog({ format: "text", level: "error", write: (line) => process.stderr.write(line) }),
  });
  await moor("token add --data there --to token --long");
  await moor("token add --new --data here --to unused");
  await fill("a.example", [
    "www 300 A 192.0.2.1",
    "www 300 A 192.0.2.2",
    "@ MX 10 mail",
    '@ TXT "v=spf1 -all; \\"x\\""',
  ]);
  await fill("b.example", [
    "* CNAME www.a.example.",
    "_sip._tcp SRV 1 2 5060 sip",
    "host SSHFP 4 2 " + "22".repeat(32),
  ]);
});
afterAll(() => there.close());

async function moor(line: string) {
  const { io, printed } = openTerminal(folder);
  const code = await runMoor(line.split(" "), io);
  return { code, ...printed };
}

async function fill(zone: string, lines: readonly string[]) {
  const own = ["$TTL 600", "@ SOA ns1.old.example. host.old.example. 1 2 3 4 5", "@ NS ns1.old.example."];
  writeFileSync(join(folder, "zone.txt"), `${[...own, ...lines].join("\n")}\n`);
  expect(await moor(`zone import ${zone} zone.txt --data there --yes`)).toMatchObject({ code: 0 });
}

const content = async (zone: string, where: string) =>
  (await moor(`zone export ${zone} --data ${where}`)).out
    .split("\n")
    .filter((line) => line !== "" && !/\tSOA\t|\tNS\tns1|^;|^\$TTL/.test(line))
    .toSorted();

describe("all zones of an account", () => {
  it("are shown first, and nothing is written", async () => {
    const { code, out } = await moor(`zone import --data here ${from()}`);
    expect(code).toBe(0);
    expect(out).toMatch(/^a\.example +new +3 +3 to create$/m);
    expect(out).toMatch(/^b\.example +new +3 +3 to create$/m);
    expect(out).toMatch(/Nothing was written/);
    expect((await moor("zone list --data here")).out).toMatch(/There are no zones yet/);
  });

  it("come with everything, and a second time nothing changes", async () => {
    expect(await moor(`zone import --data here ${from()} --yes`)).toMatchObject({ code: 0, err: "" });
    for (const zone of ["a.example", "b.example"])
      expect(await content(zone, "here")).toEqual(await content(zone, "there"));
    const again = await moor(`zone import --data here ${from()} --yes --json`);
    expect(JSON.parse(again.out)).toMatchObject({ written: true, zones: [{ state: "equal" }, { state: "equal" }] });
  });

  it("can be brought again after changes on both sides, some of them only", async () => {
    await moor("record set www.a.example A 192.0.2.9 --data there");
    await moor("record set only-here.a.example A 192.0.2.7 --data here");
    await moor("record remove host.b.example SSHFP --data there");
    const { out } = await moor(`zone import a.example --data here ${from()}`);
    expect(out).toMatch(/^a\.example +different +3 +1 to replace, 1 to remove$/m);
    expect(out).not.toMatch(/b\.example/);
    expect((await moor(`zone import a.example --data here ${from()} --yes`)).code).toBe(0);
    expect(await content("a.example", "here")).toEqual(await content("a.example", "there"));
    expect((await content("b.example", "here")).join("\n")).toContain("SSHFP");
  });

  it("one that is refused here does not stop the others", async () => {
    await fill("c.example", ["www A 192.0.2.3"]);
    await moor("token add --account other --data here --to other");
    await moor("zone add c.example --data here --account other");
    const { code, out } = await moor(`zone import --data here ${from()} --yes`);
    expect(code).toBe(1);
    expect(out).toMatch(/^c\.example +not done: /m);
    expect(out).toMatch(/^b\.example +imported /m);
  });

  it.each([
    ["--from hetzner", /add --from-token/],
    ["--from powerdns --from-token token", /add --from-url/],
    ["--from hetzner --from-token missing", /missing cannot be read/],
    ["--from axfr", /name those to import/],
    ["--from axfr --from-server 192.0.2.1 --from-key token a.example", /token has no key/],
    ["a.example", /Give a zone and its file/],
  ])("says what is missing: %s", async (words, said) => {
    expect(await moor(`zone import --data here ${words}`)).toMatchObject({ code: 2, err: expect.stringMatching(said) });
  });

  it("says if the account has no such zone, or the token is wrong", async () => {
    expect((await moor(`zone import z.example --data here ${from()}`)).err).toMatch(/has no zone z\.example/);
    writeFileSync(join(folder, "wrong"), "x".repeat(64));
    const { code, err } = await moor(`zone import --data here ${from().replace("-token token", "-token wrong")}`);
    expect([code, err]).toEqual([1, expect.stringMatching(/^Not done: .*token/)]);
  });
});

it("a zone comes from a nameserver by transfer", async () => {
  const isUp = async (port: number) => {
    const { code } = await moor(
      `zone import example.org --data here --from axfr --from-server 127.0.0.1:${port} --from-key key`,
    );
    return code === 0;
  };
  writeFileSync(join(folder, "key"), `key "home" { algorithm hmac-sha256; secret "${tsigSecret}"; };\n`);
  const bind = await startUpdateServer("BIND", isUp);
  try {
    const server = `--from axfr --from-server 127.0.0.1:${bind.port}`;
    expect((await moor(`zone import example.org --data here ${server}`)).out).toMatch(
      /not done: .*does not transfer example\.org/,
    );
    expect(await moor(`zone import example.org --data here ${server} --from-key key --yes`)).toMatchObject({ code: 0 });
    expect(await content("example.org", "here")).toContain("ns1\tIN\t3600\tA\t127.0.0.1");
  } finally {
    await bind.close();
  }
});
