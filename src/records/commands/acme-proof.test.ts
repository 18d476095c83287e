import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { type MoorDns, startMoorDns } from "../../../test/nameserver/moor-dns.ts";
import { writeTo } from "../../../test/rig/store/write.ts";
import { acmeProofs } from "./acme-proof.ts";

let moor: MoorDns;
let awaited: string[];
const proofs = () =>
  acmeProofs(moor.store, Date.now, async (name, values) => void awaited.push(`${name} ${values.join()}`));
const txt = (name: string) => moor.dig(name, "TXT", "+short");

beforeEach(async () => {
  awaited = [];
  moor = await startMoorDns();
  onTestFinished(moor.close);
});

describe("proofs over DNS", () => {
  it.each([
    ["its zone is here", "dns.example.org", "", true],
    ["it is the zone itself", "example.org", "", true],
    ["its zone is elsewhere", "dns.example.net", "", false],
    ["its zone is a secondary one", "dns.second.test", "", false],
    ["a CNAME leads to a zone here", "dns.example.org", "_acme-challenge.dns 60 CNAME proofs.example.org.", true],
    ["a CNAME leads elsewhere", "dns.example.org", "_acme-challenge.dns 60 CNAME proofs.example.net.", false],
    ["a CNAME leads to itself", "dns.example.org", "_acme-challenge.dns 60 CNAME _acme-challenge.dns", false],
  ])("can be published if %s (%s, %j): %s", async (_, name, text, can) => {
    await moor.makeZone("example.org", `${text}\n`);
    const server = { id: "p", address: "127.0.0.1", port: 1, created: 1, modified: 1 };
    await moor.makeZone("second.test", "", { mode: "secondary", primaries: [server] });
    expect(await proofs().canPublish(name)).toBe(can);
  });

  it.each([
    ["the zone of another account", "dns.customer.test"],
    ["a CNAME of the service leads into the zone of another account", "dns.example.org"],
    ["a CNAME of another account leads into a zone of the service", "alias.customer.test"],
  ])("cannot be published, and change nothing: %s (%s)", async (_, name) => {
    await moor.makeZone("example.org", "_acme-challenge.dns 60 CNAME proofs.customer.test.");
    const alias = "_acme-challenge.alias 60 CNAME proofs.example.org.";
    await moor.makeZone("customer.test", alias, {}, "customer");
    const before = await moor.store.lastChange();
    expect(await proofs().canPublish(name)).toBe(false);
    await proofs().publish(name, ["one"]);
    expect([await moor.store.lastChange(), awaited]).toEqual([before, []]);
  });

  it("are in DNS until they are removed; what another client wrote stays", async () => {
    await moor.makeZone("example.org", '_acme-challenge.dns 300 TXT "another"');
    await proofs().publish("dns.example.org", ["one", "two"]);
    expect((await txt("_acme-challenge.dns.example.org")).split("\n").sort()).toEqual(['"another"', '"one"', '"two"']);
    await proofs().publish("dns.example.org", []);
    expect(await txt("_acme-challenge.dns.example.org")).toBe('"another"');
    expect(awaited).toEqual(["_acme-challenge.dns.example.org one,two"]);
  });

  it("replace those of an attempt that was interrupted", async () => {
    await moor.makeZone("example.org");
    await proofs().publish("dns.example.org", ["old"]);
    await proofs().publish("dns.example.org", ["new"]);
    expect(await txt("_acme-challenge.dns.example.org")).toBe('"new"');
  });

  it("change nothing when there is nothing to remove", async () => {
    await moor.makeZone("example.org");
    const before = await moor.store.lastChange();
    await proofs().publish("dns.example.org", []);
    await proofs().publish("dns.example.net", []);
    expect(await moor.store.lastChange()).toBe(before);
  });

  it("are written where a CNAME leads", async () => {
    await moor.makeZone("example.org", "_acme-challenge.dns 60 CNAME a.proofs.test.\n");
    await moor.makeZone("proofs.test");
    await proofs().publish("dns.example.org", ["one"]);
    expect(await txt("a.proofs.test")).toBe('"one"');
    expect(awaited).toEqual(["a.proofs.test one"]);
  });

  it("say why they cannot be written", async () => {
    const zone = await moor.makeZone("example.org");
    const at = { zone: zone.id };
    const request = { account: moor.account, at, owners: "all", actor: "test", now: Date.now() } as const;
    await proofs().publish("dns.example.org", ["one"]);
    await writeTo(moor.store, request, ({ sets }) => ({
      wanted: sets.map((set) => ({ ...set, locked: set.type === "TXT" })),
      result: undefined,
    }));
    await expect(proofs().publish("dns.example.org", ["two"])).rejects.toThrow(
      /^the record _acme-challenge\.dns\.example\.org cannot be written: .*protected/,
    );
  });
});
