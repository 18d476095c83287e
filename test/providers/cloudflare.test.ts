import { expect, it } from "vitest";
import { openProvider } from "../../src/providers/open-provider.ts";
import { changesFor, describeProvider } from "../rig/providers/provider-suite.ts";
import { fakeCloudflare } from "../rig/updater/fakes/cloudflare.ts";
import { never } from "../rig/updater/target-faults.ts";

const secret = "t0ken-0123456789abcdefghijklmnopqrstuvwx";
const cloudflare = fakeCloudflare(secret);

describeProvider({
  ...{ title: "cloudflare", secret, many: 450 },
  open: async () => ({
    ...{ settings: "", reply: cloudflare.reply, fill: cloudflare.fill, held: cloudflare.held },
    close: () => undefined,
  }),
  connect: (url, token) =>
    openProvider({ kind: "cloudflare", url: new URL(url), trust: { kind: "system" }, token: () => token }),
  http: {
    error: (status, message) => ({
      status,
      body: { success: false, errors: [{ code: 1000, message }], messages: [], result: null },
    }),
  },
  more(rig) {
    it("keeps the id, comment and tags of every record whose value stays or changes", async () => {
      cloudflare.fill(["www 300 A 192.0.2.1", "www 300 A 192.0.2.2"]);
      const [first, second] = cloudflare.of("www", "A");
      if (second) second.extra = { comment: "the hall", tags: ["owner:me"] };
      await rig.provider.write(
        "example.org",
        changesFor(["www 600 A 192.0.2.3", "www 600 A 192.0.2.2", "www 600 A 192.0.2.4"]),
        never,
      );
      expect(cloudflare.of("www", "A")).toMatchObject([
        { id: first?.id, value: "192.0.2.3", ttl: 600 },
        { id: second?.id, value: "192.0.2.2", ttl: 600, extra: { comment: "the hall" } },
        { value: "192.0.2.4", ttl: 600 },
      ]);
      expect(rig.server.asked.filter(({ method }) => method !== "GET")).toHaveLength(1);
    });

    it("is not done if somebody adds a value between the read and the write", async () => {
      for (const held of [["www 300 A 192.0.2.1"], []]) {
        cloudflare.fill(held);
        rig.instead = async (asked) => {
          if (asked.method !== "GET") cloudflare.add({ name: "www", type: "A", ttl: 300, value: "192.0.2.9" });
          return undefined;
        };
        const outcomes = await rig.provider.write("example.org", changesFor(["www 300 A 192.0.2.2"]), never);
        expect(outcomes).toMatchObject([{ kind: "unknown" }]);
      }
    });

    it("asks for the id of the zone again when it has another token, which may be that of another account", async () => {
      let token = secret;
      const trust = { kind: "system" } as const;
      const provider = await openProvider({
        ...{ kind: "cloudflare", url: new URL(rig.server.url), trust, token: () => token },
      });
      const asked = async () => {
        await provider.set("example.org", "www", "A", never);
        return rig.server.asked.splice(0).map(({ path }) => path.startsWith("/zones?"));
      };
      expect([await asked(), await asked()]).toEqual([[true, false], [false]]);
      token = "another";
      expect(await asked()).toEqual([true]);
      provider.close();
    });

    it("refuses a name that two zones have and names both, unless the account is given", async () => {
      const account = { id: "0b5b2b1a0c7f4d5e8f9a6b3c2d1e0f4a", name: "Agency" };
      cloudflare.others.push({ ...cloudflare.zone, id: "f".repeat(32), status: "pending", account });
      const both =
        'Cloudflare has 2 zones example.org: one in the account "Agency" (0b5b2b1a0c7f4d5e8f9a6b3c2d1e0f4a, pending), one in the account "Main" (01a7362d577a6c3019a474fd6f485823, active)';
      const fault = { kind: "ambiguous", because: both };
      expect(await rig.provider.set("example.org", "www", "A", never)).toMatchObject(fault);
      expect(await rig.provider.sets("example.org", never)).toMatchObject(fault);
      const written = await rig.provider.write("example.org", changesFor(["www 300 A 192.0.2.1"]), never);
      expect(written).toMatchObject([{ fault }]);
      expect(rig.server.asked.filter(({ path }) => !path.startsWith("/zones?"))).toEqual([]);
      cloudflare.fill(["www 300 A 192.0.2.1"]);
      for (const [chosen, found] of [
        [cloudflare.zone.account.id, { kind: "found", value: { values: [expect.anything()] } }],
        [account.id, { kind: "missing" }],
        ["0", { kind: "missing" }],
      ] as const) {
        const url = new URL(`${rig.server.url}?account=${chosen}`);
        const provider = await openProvider({
          kind: "cloudflare",
          url,
          trust: { kind: "system" },
          token: () => secret,
        });
        expect(await provider.set("example.org", "www", "A", never)).toMatchObject(found);
        const listed = await provider.zones(never);
        expect(listed.kind === "found" && listed.value.length).toBe(chosen === "0" ? 0 : 1);
        provider.close();
      }
      cloudflare.others.length = 0;
      expect(await rig.provider.set("example.org", "www", "A", never)).toMatchObject({ kind: "found" });
    });

    it("cannot represent a CNAME at the name of the zone, which Cloudflare flattens: it stays there", async () => {
      cloudflare.fill(["@ 300 CNAME site.pages.dev.", "@ 300 MX 10 mail.example.org.", "www 300 CNAME example.org."]);
      const because = "a CNAME at the name of the zone, which only the provider can serve";
      const listed = await rig.provider.sets("example.org", never);
      expect(listed.kind === "found" && [listed.value.sets.length, listed.value.unreadable]).toEqual([
        2,
        [{ name: "@", type: "CNAME", values: ["site.pages.dev."], because }],
      ]);
      expect(await rig.provider.set("example.org", "@", "CNAME", never)).toMatchObject({ kind: "unsupported" });
      expect(await rig.provider.set("example.org", "@", "A", never)).toMatchObject({ kind: "found" });
    });

    it("reads a text without quotes, as older records have them", async () => {
      cloudflare.fill(["old 300 TXT v=spf1 include:x; -all"]);
      const found = await rig.provider.set("example.org", "old", "TXT", never);
      expect(found).toMatchObject({ value: { values: ['"v=spf1 include:x; -all"'] } });
    });

    it("says that the records of a set have different TTLs", async () => {
      cloudflare.fill(["www 300 A 192.0.2.1", "www 600 A 192.0.2.2"]);
      const hasMixedTtl = true;
      expect(await rig.provider.set("example.org", "www", "A", never)).toMatchObject({ value: { hasMixedTtl } });
      expect(await rig.provider.sets("example.org", never)).toMatchObject({ value: { sets: [{ hasMixedTtl }] } });
    });

    it("gives all records of a set the same TTL, also if the first has it already", async () => {
      cloudflare.fill(["www 300 A 192.0.2.1", "www 600 A 192.0.2.2"]);
      const changes = changesFor(["www 300 A 192.0.2.1", "www 300 A 192.0.2.2"]);
      expect(await rig.provider.write("example.org", changes, never)).toMatchObject([{ kind: "done" }]);
      expect(cloudflare.held()).toEqual(["www 300 A 192.0.2.1", "www 300 A 192.0.2.2"]);
    });

    it("an automatic TTL is the zone's", async () => {
      const [change] = changesFor(["www 300 A 192.0.2.1"]);
      const content = { values: ["192.0.2.1"], ttl: null };
      const outcomes = change && (await rig.provider.write("example.org", [{ ...change, content }], never));
      expect(outcomes).toMatchObject([{ kind: "done", set: { ttl: null } }]);
      expect(cloudflare.held()).toEqual(["www 1 A 192.0.2.1"]);
    });

    it("a set that is created proxied has no TTL of its own", async () => {
      cloudflare.fill([]);
      const [change] = changesFor(["www 300 A 192.0.2.1"]);
      const write = async (ttl: number) => {
        const content = { values: ["192.0.2.1"], ttl, proxied: true as const };
        return change && (await rig.provider.write("example.org", [{ ...change, content }], never));
      };
      const because = "Cloudflare serves proxied records with a TTL of 300 seconds only";
      expect(await write(600)).toMatchObject([{ kind: "refused", fault: { because } }]);
      expect(await write(300)).toMatchObject([{ kind: "done", set: { ttl: null, proxied: true } }]);
      expect(cloudflare.of("www", "A")).toMatchObject([{ ttl: 1, extra: { proxied: true } }]);
    });

    it("an automatic TTL is one of 300 seconds, and a proxied record has no other", async () => {
      cloudflare.fill(["www 1 A 192.0.2.1"]);
      const [record] = cloudflare.of("www", "A");
      if (record) record.extra = { proxied: true };
      const write = (ttl: number, value: string) =>
        rig.provider.write("example.org", changesFor([`www ${ttl} A ${value}`]), never);
      expect(await write(300, "192.0.2.1")).toMatchObject([{ kind: "done", set: { ttl: null } }]);
      expect(await write(300, "192.0.2.2")).toMatchObject([{ kind: "done", set: { values: ["192.0.2.2"] } }]);
      const because = "Cloudflare serves proxied records with a TTL of 300 seconds only";
      expect(await write(600, "192.0.2.3")).toMatchObject([{ kind: "refused", fault: { because } }]);
      expect(cloudflare.held()).toEqual(["www 1 A 192.0.2.2"]);
    });
  },
});
