import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PrimaryServer, Zone } from "../../src/records/model.ts";
import { until } from "../rig/until.ts";
import { addressOver, askBriefly, serialOver } from "./ask-over-udp.ts";
import { type BindPrimary, startBindPrimary } from "./bind-primary.ts";
import { type MoorDns, startMoorDns } from "./moor-dns.ts";

const secret = randomBytes(32).toString("base64");
const records = `
@ IN NS ns1
ns1 IN A 192.0.2.1
www IN A 192.0.2.2
*.wild IN TXT "every name"
_sip._tcp IN SRV 0 5 5060 www
odd IN TYPE65400 \\# 3 abcdef
`;
const zoneText = (timers: string) => `$TTL 300\n@ IN SOA ns1 hostmaster 5 ${timers}\n${records}`;

let moor: MoorDns;
let bind: BindPrimary;
let zone: Zone;

const primaryAt = (port: number): PrimaryServer => ({
  id: "p",
  address: "127.0.0.1",
  port,
  tsig: { algorithm: "hmac-sha256", key: secret },
  created: 1,
  modified: 1,
});
/** `address` is empty where there is none. */
const answers = (name: string, address: string) => {
  let last: string | undefined;
  const holds = async () => {
    last = await addressOver(moor.port, name);
    return last === address;
  };
  return until(holds, { what: () => `${name} to be ${address}, not ${last}\n${moor.log()}` });
};

beforeAll(async () => {
  moor = await startMoorDns();
  const key = { name: "from-bind", algorithm: "hmac-sha256", secret } as const;
  await moor.store.addTransferKey({ ...key, account: undefined, scope: { access: "read", zones: [] }, created: 1 });
  bind = await startBindPrimary({ zone: "example.org", text: zoneText("1 1 600 60"), key, notify: moor.port });
  zone = await moor.makeZone("example.org", "", { mode: "secondary", primaries: [primaryAt(bind.port)] });
});
afterAll(async () => {
  await bind?.close();
  await moor?.close();
});

describe("a zone that comes from a real BIND", () => {
  it("is transferred as soon as it is created, with the serial of the primary", async () => {
    await answers("www.example.org", "192.0.2.2");
    expect(await moor.store.zoneHolding("example.org")).toMatchObject({ serial: 5 });
    expect(await moor.dig("+short", "any.wild.example.org", "TXT")).toBe('"every name"');
    expect(await moor.dig("+short", "odd.example.org", "TYPE65400")).toBe("\\# 3 ABCDEF");
    expect(await moor.dig("+short", "example.org", "SOA")).toContain(" 5 1 1 600 60");
  });

  it("follows a change immediately, by IXFR, and keeps the rest", async () => {
    const before = await moor.store.sets(zone, { owner: "www" });
    expect(await bind.nsupdate("update add new.example.org 60 A 192.0.2.9")).toBe("");
    await answers("new.example.org", "192.0.2.9");
    expect(await bind.nsupdate("update delete new.example.org A\nupdate add www.example.org 60 AAAA 2001:db8::1")).toBe(
      "",
    );
    await answers("new.example.org", "");
    expect(await moor.store.sets(zone, { owner: "www", type: "A" })).toEqual(before);
    await expect.poll(() => bind.said()).toMatch(/IXFR started: TSIG from-bind \(serial 5 -> 6\)/);
    const rows = await moor.store.historyOf(zone, { limit: 3 });
    expect(rows.every((row) => row.actor === "transfer")).toBe(true);
    expect(await moor.store.zoneHolding("example.org")).toMatchObject({ serial: await bind.serial() });
  });

  it("is passed on to secondaries like moor's own zones", async () => {
    const key = await moor.makeKey("downstream", { access: "read" });
    const lines = (await moor.dig("-y", key, "+noall", "+answer", "example.org", "AXFR")).split("\n");
    expect(lines.filter((line) => line.includes("\tSOA\t"))).toHaveLength(2);
    expect(lines.join("\n")).toMatch(/www\.example\.org\.\s+60\s+IN\s+AAAA\s+2001:db8::1/);
    expect(await moor.dig("-y", key, "+noall", "+answer", "example.org", "IXFR=5")).toMatch(/AAAA/);
  });

  it("is answered without its primary until it expires, and again when the primary is back", async () => {
    const names = "ns1.example.org. hostmaster.example.org.";
    expect(await bind.nsupdate(`update add example.org 300 SOA ${names} 100 1 1 8 60`)).toBe("");
    await until(async () => (await serialOver(moor.port, "example.org")) === 100, { what: moor.log });
    expect(await moor.dig("+short", "example.org", "SOA")).toBe(`${names} 100 1 1 8 60`);
    await bind.stop("SIGKILL");
    expect(await moor.dig("+short", "www.example.org", "A")).toBe("192.0.2.2");
    const serverFailure = 2;
    const holds = async () =>
      (await askBriefly(moor.port, { name: "www.example.org", type: 1 }))?.rcode === serverFailure;
    await until(holds, { every: 100, what: () => "the end of an expired zone" });
    await bind.start();
    await answers("www.example.org", "192.0.2.2");
  });

  it("refuses NOTIFY from others, and for zones that are not secondary", async () => {
    const key = await moor.makeKey("stranger");
    await moor.makeZone("own.example", "www 60 A 192.0.2.7");
    expect(await moor.dig("+opcode=notify", "-y", key, "own.example", "SOA")).toContain("status: NOTAUTH");
    expect(await moor.dig("+opcode=notify", "-b", "127.0.0.9", "example.org", "SOA")).toContain("status: REFUSED");
    expect(await moor.dig("+opcode=notify", "example.org", "SOA")).toContain("status: NOERROR");
  });

  it("logs once that a zone cannot be transferred, and answers SERVFAIL for it", async () => {
    await moor.makeZone("missing.example", "", { mode: "secondary", primaries: [primaryAt(bind.port)] });
    const told = () =>
      moor
        .log()
        .split("\n")
        .filter((line) => line.includes("missing.example"));
    await until(() => told().length > 0, { what: () => "a line in the log" });
    expect(told()[0]).toContain("the zone could not be transferred from any primary server");
    expect(await moor.dig("missing.example", "SOA")).toContain("status: SERVFAIL");
  });
});
