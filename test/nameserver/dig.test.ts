import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Nameserver, startNameserver } from "../../src/nameserver/start.ts";
import { createLog } from "../../src/process/log.ts";
import { writtenSets, writtenZone } from "../rig/core/written-sets.suite.ts";
import { freePort } from "../rig/free-port.ts";
import { zonesInMemory } from "./zones-in-memory.ts";

const run = promisify(execFile);
const log = createLog({ format: "text", level: "silent", write: () => {} });
const text = `
  @     300 NS   ns1
  ns1   300 A    192.0.2.1
  www   300 A    192.0.2.2
  www   300 A    192.0.2.3
  alias 300 CNAME www
  near  300 TXT  "${"x".repeat(250)}" "${"y".repeat(180)}"
  sub   300 NS   ns.sub
  ns.sub 300 A   192.0.2.4
  long  300 TXT  "${"x".repeat(255)}" "${"y".repeat(255)}" "${"z".repeat(255)}" "${"x".repeat(255)}" "${"y".repeat(255)}"`;
const source = zonesInMemory(writtenZone("example.org", text));
let server: Nameserver;
beforeAll(async () => {
  const listen = [
    { host: "127.0.0.1", port: 0 },
    { host: "::1", port: 0 },
  ];
  const identity = { cookieSecret: Buffer.alloc(16, 7), nsid: Buffer.from("ns1.test") };
  server = await startNameserver({ listen, source, log, identity });
});
afterAll(() => server.close());

async function dig(args: string, host = 0): Promise<string[]> {
  const at = server.addresses[host];
  const { stdout } = await run("dig", [
    `@${at?.host}`,
    "-p",
    `${at?.port}`,
    "+tries=1",
    "+time=15",
    ...args.split(" "),
  ]);
  return stdout.split("\n").map((line) => line.replaceAll(/\s+/g, " "));
}

describe("real dig", () => {
  it.each([
    ["over UDP", "+short www.example.org", ["192.0.2.2", "192.0.2.3"]],
    ["over TCP", "+short +tcp www.example.org", ["192.0.2.2", "192.0.2.3"]],
    ["through an alias", "+short alias.example.org", ["www.example.org.", "192.0.2.2", "192.0.2.3"]],
    ["without EDNS", "+short +noedns www.example.org", ["192.0.2.2", "192.0.2.3"]],
    ["with a cookie and padding", "+short +cookie +padding=128 www.example.org", ["192.0.2.2", "192.0.2.3"]],
    ["a type it does not know", "+short TYPE65400 www.example.org", []],
  ])("%s", async (_, args, expected) => {
    for (const host of [0, 1]) expect((await dig(args, host)).filter((line) => line !== "")).toEqual(expected);
  });

  it.each(["+notcp", "+tcp"])(
    "gets a cookie that it can verify, and the name of the server (%s)",
    async (transport) => {
      for (const host of [0, 1]) {
        const first = (await dig(`${transport} +cookie +nsid www.example.org`, host)).join("\n");
        expect(first).toMatch(/; COOKIE: [0-9a-f]{16}01000000[0-9a-f]{24} \(good\)/);
        expect(first).toContain("ns1.test");
        const [, cookie = ""] = /COOKIE: ([0-9a-f]{48})/.exec(first) ?? [];
        const again = (await dig(`${transport} +cookie=${cookie} www.example.org`, host)).join("\n");
        expect(again).toContain(`; COOKIE: ${cookie} (good)`);
      }
    },
  );

  it("a cookie of a wrong length is a format error", async () => {
    expect((await dig("+ednsopt=10:001122 www.example.org")).join("\n")).toContain("FORMERR");
  });

  it.each([
    ["www.example.net", "REFUSED", "EDE: 20 (Not Authoritative)"],
    ["version.bind CH TXT", "REFUSED", "EDE: 18 (Prohibited)"],
    ["+cookie www.example.net", "COOKIE", "EDE: 20 (Not Authoritative)"],
    ["+tcp www.example.net", "REFUSED", "EDE: 20 (Not Authoritative)"],
  ])("learns why: %s is %s with %s", async (args, word, error) => {
    const lines = (await dig(args)).join("\n");
    expect(lines).toContain(word);
    expect(lines).toContain(error);
  });

  it("an answer that has no room for the options is truncated, and complete over TCP", async () => {
    const lines = await dig("+cookie +nsid +bufsize=512 near.example.org TXT");
    expect(lines).toContain(";; Truncated, retrying in TCP mode.");
    expect((await dig("+nocookie +bufsize=512 near.example.org TXT")).join("\n")).not.toContain("Truncated");
  });

  it("repeats a query over TCP if the answer did not fit", async () => {
    const lines = await dig("long.example.org TXT");
    expect(lines).toContain(";; Truncated, retrying in TCP mode.");
    expect(lines.some((line) => line.startsWith("long.example.org. 300 IN TXT "))).toBe(true);
  });

  it("sees a referral with its glue", async () => {
    const lines = await dig("+norecurse host.sub.example.org");
    expect(lines).toContain("sub.example.org. 300 IN NS ns.sub.example.org.");
    expect(lines).toContain("ns.sub.example.org. 300 IN A 192.0.2.4");
  });

  it.each([
    ["no.example.org", "NXDOMAIN"],
    ["www.example.net", "REFUSED"],
    ["+opcode=status www.example.org", "NOTIMP"],
    ["+edns=7 +noednsneg www.example.org", "BADVERS"],
    ["version.bind CH TXT", "REFUSED"],
    ["-t axfr example.org", "failed"],
  ])("%s is %s", async (args, word) => {
    expect((await dig(args)).join("\n")).toContain(word);
  });

  it("sees a change immediately", async () => {
    const before = source.asked.load;
    const changed = text.replaceAll(/www +300 A +192\.0\.2\.[23]\n/g, "").concat("\nwww 300 A 192.0.2.99");
    const soa = "@ 3600 SOA ns1 hostmaster 1 7200 900 1209600 300\n";
    source.write("example.org", writtenSets("example.org", soa + changed));
    expect(await dig("+short www.example.org")).toContain("192.0.2.99");
    expect(source.asked.load).toBe(before);
  });
});

it("uses one port for both protocols, and reports a port that is in use", async () => {
  const [at] = server.addresses;
  if (at === undefined) throw new Error("no address");
  await expect(startNameserver({ listen: [at], source, log })).rejects.toThrow(
    `port ${at.port} on 127.0.0.1 is in use`,
  );
});

it("closes what it opened when a later address is not available", async () => {
  const [taken] = server.addresses;
  if (taken === undefined) throw new Error("no address");
  const first = { host: "127.0.0.1", port: await freePort() };
  await expect(startNameserver({ listen: [first, taken], source, log })).rejects.toThrow("in use");
  const again = await startNameserver({ listen: [first], source, log });
  await again.close();
});
