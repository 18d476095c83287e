import { afterEach, describe, expect, it } from "vitest";
import { actOn } from "../rig/store/write.ts";
import { everyone, type MoorDns, startMoorDns } from "./moor-dns.ts";

const catalog = "catalog.moor.invalid";
let moor: MoorDns | undefined;
afterEach(() => moor?.close());

const serialOf = async (dns: MoorDns) => Number((await dns.dig("+short", catalog, "SOA")).split(" ")[2]);
const members = async (dns: MoorDns) =>
  (await dns.dig("+noall", "+answer", catalog, "AXFR"))
    .split("\n")
    .filter((line) => line.includes("PTR"))
    .map((line) => line.split(/\s+/).at(-1) ?? "")
    .sort();

describe("the catalog zone", () => {
  it("gets a new serial when zones are created or deleted, and only then", async () => {
    moor = await startMoorDns({ networks: everyone, catalog });
    const zone = await moor.makeZone("a.example", "www 60 A 192.0.2.1");
    const first = await serialOf(moor);
    expect(await members(moor)).toEqual(["a.example."]);
    await moor.write(zone, "www 60 A 192.0.2.2");
    expect(await moor.dig("+short", "www.a.example", "A")).toBe("192.0.2.2");
    expect(await serialOf(moor)).toBe(first);
    await moor.makeZone("b.example");
    const second = await serialOf(moor);
    expect(second).toBeGreaterThan(first);
    expect(await members(moor)).toEqual(["a.example.", "b.example."]);
    const removal = { account: moor.account, at: { name: "a.example" }, owners: "all", actor: "test", now: 1 } as const;
    await actOn(moor.store, removal, () => ({ wanted: undefined, remove: true, result: null }));
    expect(await serialOf(moor)).toBeGreaterThan(second);
    expect(await members(moor)).toEqual(["b.example."]);
    const difference = await moor.dig("+noall", "+answer", catalog, `IXFR=${second}`);
    expect(difference.split("\n").map((line) => line.split(/\s+/)[3])).toEqual(["SOA", "SOA", "PTR", "SOA", "SOA"]);
  });

  it("exists even without any zones", async () => {
    moor = await startMoorDns({ networks: everyone, catalog: "all.example" });
    expect(await moor.dig("+short", "version.all.example", "TXT")).toBe('"2"');
    expect(await moor.dig("+noall", "+answer", "all.example", "AXFR")).not.toContain("PTR");
  });

  it("stays the catalog when a zone of the same name is created, and the log says which zones it hides", async () => {
    moor = await startMoorDns({ networks: everyone, catalog });
    await moor.makeZone("a.example");
    const before = await serialOf(moor);
    const zone = await moor.makeZone(catalog, "www 60 A 192.0.2.1");
    await moor.write(zone, "www 60 A 192.0.2.2");
    await moor.makeZone(`below.${catalog}`);
    expect(await moor.dig("+short", `www.${catalog}`)).toBe("");
    expect(await members(moor)).toEqual(["a.example."]);
    expect(await serialOf(moor)).toBeLessThan(before + 10);
    const warnings = moor
      .log()
      .split("\n")
      .filter((line) => line.includes("this zone is inside the catalog zone"));
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toContain(`zone=${catalog} catalog=${catalog}`);
    expect(warnings[1]).toContain(`zone=below.${catalog} catalog=${catalog}`);
  });

  it("can be transferred only with a key for every zone", async () => {
    moor = await startMoorDns({ catalog });
    await moor.makeZone("a.example");
    const whole = await moor.makeKey("whole", { access: "read" });
    const some = await moor.makeKey("some", { access: "read", zones: ["a.example", catalog] });
    const own = await moor.makeKey("own", { access: "read" }, moor.account);
    const asked = async (key: string, name: string) => (await moor?.dig("-y", key, name, "AXFR"))?.includes("XFR size");
    expect([await asked(whole, catalog), await asked(some, catalog), await asked(own, catalog)]).toEqual([
      true,
      false,
      false,
    ]);
    expect([await asked(whole, "a.example"), await asked(some, "a.example"), await asked(own, "a.example")]).toEqual([
      true,
      true,
      true,
    ]);
    expect(await moor.dig(`z1.zones.${catalog}`, "PTR")).toContain("status: REFUSED");
    expect(await moor.dig("-y", whole, `z1.zones.${catalog}`, "PTR")).toContain("status: NOERROR");
    expect(await moor.dig("www.a.example", "A")).toContain("status: NXDOMAIN");
  });
});

describe("a zone without its own nameservers", () => {
  it("is sent whole when it gets some, so that IXFR and AXFR agree", async () => {
    moor = await startMoorDns({ networks: everyone });
    const zone = await moor.makeZone("a.example", "www 60 A 192.0.2.1");
    expect(await moor.dig("+short", "a.example", "NS")).toBe("ns1.moor.invalid.");
    await moor.write(zone, "@ 60 NS ns1.example.net.\nwww 60 A 192.0.2.1");
    const asked = await moor.dig("+noall", "+answer", "a.example", "IXFR=1");
    expect(asked.split("\n").map((line) => line.split(/\s+/)[3])).toEqual(["SOA", "NS", "A", "SOA"]);
    expect(asked).not.toContain("ns1.moor.invalid.");
  });
});
