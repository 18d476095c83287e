import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from "vitest";
import { targetKinds } from "../../../src/updater/targets/targets.ts";
import type { RecordTarget, ReplaceOrder, TargetFault, WriteOutcome } from "../../../src/updater/targets/target.ts";
import { type OpenedTarget, openConfigured } from "./configured-target.ts";
import { type Asked, type Reply, startServer, type TestServer } from "./services.ts";

/** The service that a target talks to: a real one or a fake, with the zone example.org. */
export type TargetPeer = {
  /** Settings of the target's entry besides `api` and `url`, as in YAML: `token: { file: secret }`. */
  readonly settings: string;
  readonly reply: (asked: Asked) => Reply | Promise<Reply>;
  /** Replaces all sets of the zone but SOA and NS: `home 300 A 192.0.2.1`. */
  readonly fill: (sets: readonly string[]) => Promise<void> | void;
  /** The same, sorted. */
  readonly held: () => Promise<readonly string[]> | readonly string[];
  readonly close: () => Promise<void> | void;
};

export type TargetCase = {
  readonly api: string;
  readonly open: () => Promise<TargetPeer>;
  /** The right credential. It must never show up in a message. */
  readonly secret: string;
  /** The requests for one replaced address. */
  readonly calls: number;
  /** An error in the service's own format. */
  readonly error: (status: number, message: string) => Reply;
  /** What happens to a set with two addresses. */
  readonly several: "left alone" | "replaced";
  /** The TTL of the records; a service may not allow just any. */
  readonly ttl?: number;
  readonly otherTtl?: number;
  /** Whether a request may change something. */
  readonly isWrite?: (asked: Asked) => boolean;
};

const never = new AbortController().signal;
const order: ReplaceOrder = { zone: "example.org", name: "home", family: "ipv4", value: "9.9.9.9" };

/** What every target must do, whatever its API. */
export function describeTarget(target: TargetCase): void {
  const { api, secret, error, ttl = 300, otherTtl = 600 } = target;
  const isWrite = target.isWrite ?? (({ method }: Asked) => method !== "GET");
  const can = targetKinds[api]?.can;

  describe(`target ${api}`, () => {
    let peer: TargetPeer;
    let server: TestServer;
    let opened: OpenedTarget;
    let dns: RecordTarget;
    let instead: (asked: Asked) => Reply | undefined | Promise<Reply | undefined>;
    const first = [
      `home ${ttl} A 192.0.2.1`,
      `home ${ttl} AAAA 2001:db8::1`,
      `home ${ttl} TXT "hello"`,
      `other ${ttl} A 192.0.2.2`,
    ];
    const withHome = (line: string) => first.map((each) => (each.startsWith(`home ${ttl} A `) ? line : each)).toSorted();

    beforeAll(async () => {
      peer = await target.open();
      server = await startServer(async (asked) => (await instead(asked)) ?? peer.reply(asked));
      opened = await openConfigured(api, `url: "${server.url}", ${peer.settings}`, { secret });
      dns = opened.target;
    });
    afterAll(async () => {
      opened?.close();
      await server?.close();
      await peer?.close();
    });
    beforeEach(async () => {
      instead = () => undefined;
      await peer.fill(first);
      server.asked.length = 0;
    });

    const replace = (more: Partial<ReplaceOrder> = {}) => dns.replace({ ...order, ...more }, never);
    const faultOf = (outcome: WriteOutcome): TargetFault | undefined =>
      outcome.kind === "done" ? undefined : outcome.fault;

    it("replaces an address and keeps everything else", async () => {
      expect(await replace()).toMatchObject({ kind: "done" });
      expect(await peer.held()).toEqual(withHome(`home ${ttl} A 9.9.9.9`));
      expect(server.asked.map(({ method, path }) => `${method} ${path}`)).toHaveLength(target.calls);
    });

    it("replaces an IPv6 address", async () => {
      expect(await replace({ family: "ipv6", value: "2a00::9" })).toMatchObject({ kind: "done" });
      expect(await peer.held()).toContain(`home ${ttl} AAAA 2a00::9`);
      expect(await peer.held()).toContain(`home ${ttl} A 192.0.2.1`);
    });

    it("knows the zone itself as @", async () => {
      await peer.fill([...first, `@ ${ttl} A 192.0.2.9`]);
      expect(await replace({ name: "@" })).toMatchObject({ kind: "done" });
      expect(await peer.held()).toEqual([...first, `@ ${ttl} A 9.9.9.9`].toSorted());
    });

    if (can?.ttl)
      it("sets a TTL if one is ordered", async () => {
        expect(await replace({ ttl: otherTtl })).toMatchObject({ kind: "done", ttl: otherTtl });
        expect(await peer.held()).toEqual(withHome(`home ${otherTtl} A 9.9.9.9`));
      });

    it("creates nothing unless it is asked to", async () => {
      expect(await replace({ name: "new" })).toMatchObject({ kind: "refused", fault: { kind: "missing" } });
      expect(await peer.held()).toEqual(first.toSorted());
    });

    if (can?.create)
      it("creates a record", async () => {
        expect(await replace({ name: "new", create: true, ttl: otherTtl })).toMatchObject({ kind: "done" });
        expect(await peer.held()).toEqual([...first, `new ${otherTtl} A 9.9.9.9`].toSorted());
        expect(await replace({ name: "new", create: true, value: "9.9.9.8" })).toMatchObject({ kind: "done" });
        expect(await peer.held()).toEqual([...first, `new ${otherTtl} A 9.9.9.8`].toSorted());
      });

    it(`a set with two addresses is ${target.several}`, async () => {
      const both = [...first, `home ${ttl} A 192.0.2.7`];
      await peer.fill(both);
      const outcome = await replace();
      if (target.several === "replaced") {
        expect(outcome.kind).toBe("done");
        expect(await peer.held()).toEqual(withHome(`home ${ttl} A 9.9.9.9`));
      } else {
        expect(outcome).toMatchObject({ kind: "refused", fault: { kind: "ambiguous" } });
        expect(await peer.held()).toEqual(both.toSorted());
      }
    });

    it("reads what a record holds", async () => {
      expect(await dns.current(order, never)).toMatchObject({ kind: "found", value: { values: ["192.0.2.1"] } });
      expect(await dns.current({ ...order, name: "new" }, never)).toMatchObject({ kind: "missing" });
    });

    it("says that a zone is missing", async () => {
      const outcome = await replace({ zone: "example.net" });
      expect(outcome).toMatchObject({ kind: "refused", fault: { kind: "missing" } });
      expect(faultOf(outcome)?.because).toContain("zone example.net");
    });

    it("lists zones and records, and shows one by the id in the list", async () => {
      const zones = await dns.zones(never);
      expect(zones.kind === "found" && zones.value.map(({ name }) => name)).toEqual(["example.org"]);
      const records = await dns.records("example.org", never);
      const home = records.kind === "found" && records.value.find(({ type, name }) => name === "home" && type === "A");
      expect(home).toMatchObject({ value: "192.0.2.1" });
      const shown = await dns.record(home ? home.id : "", never);
      expect(shown).toMatchObject({ kind: "found", value: { name: "home", type: "A", value: "192.0.2.1" } });
      expect(await dns.record("example.org/nobody/A", never)).toMatchObject({ kind: "missing" });
    });

    it("says that a credential is wrong, and what to do", async () => {
      const wrong = await openConfigured(api, `url: "${server.url}", ${peer.settings}`, { secret: "wr0ng-secret-123456" });
      try {
        const outcome = await wrong.target.replace(order, never);
        expect(outcome).toMatchObject({ kind: "refused", fault: { kind: "unauthorised" } });
        expect(JSON.stringify(outcome)).not.toContain("wr0ng");
        expect(await peer.held()).toEqual(first.toSorted());
      } finally {
        wrong.close();
      }
    });

    const refusals: [status: number, kinds: readonly TargetFault["kind"][]][] = [
      [400, ["refused"]],
      [401, ["unauthorised"]],
      [403, ["unauthorised"]],
      [404, ["missing", "refused"]],
      [409, ["later"]],
      [422, ["refused"]],
      [429, ["later"]],
    ];

    test.each(refusals)("%i to a write means that nothing was stored", async (status, kinds) => {
      instead = (asked) => (isWrite(asked) ? error(status, `no: ${secret}`) : undefined);
      const outcome = await replace();
      const fault = faultOf(outcome);
      expect([outcome.kind, kinds.includes(fault?.kind ?? "later")]).toEqual(["refused", true]);
      if (status !== 404) expect(fault?.because).toContain(String(status));
      expect(JSON.stringify(outcome)).not.toContain(secret);
      expect(fault?.todo).not.toBe("");
    });

    it("waits as long as a 429 says", async () => {
      instead = (asked) =>
        isWrite(asked) ? { ...error(429, "slowly"), headers: { "retry-after": "7" } } : undefined;
      expect(faultOf(await replace())).toMatchObject({ kind: "later", retryAfter: 7_000, ofService: true });
    });

    test.each([500, 502, 503, 504])("%i to a write leaves its outcome open", async (status) => {
      instead = (asked) => (isWrite(asked) ? { ...error(status, "oops") } : undefined);
      expect(await replace()).toMatchObject({ kind: "unknown", fault: { kind: "later", ofService: true } });
    });

    test.each<[string, Reply]>([
      ["the connection breaks", { fault: "reset" }],
      ["the answer is cut short", { body: "{ and so on, and so on", fault: "truncate" }],
      ["a proxy answers", { status: 404, body: "<html>not here</html>" }],
    ])("the outcome is open when %s, whether or not it was stored", async (_, reply) => {
      instead = (asked) => (isWrite(asked) ? reply : undefined);
      expect((await replace()).kind).toBe("unknown");
      instead = async (asked) => {
        if (!isWrite(asked)) return undefined;
        await peer.reply(asked);
        return reply;
      };
      expect((await replace()).kind).toBe("unknown");
      instead = () => undefined;
      expect(await dns.current(order, never)).toMatchObject({ value: { values: ["9.9.9.9"] } });
    });

    it("a success counts only if it is about this address", async () => {
      let earlier: Reply | undefined;
      instead = async (asked) => {
        if (!isWrite(asked)) return undefined;
        earlier = await peer.reply(asked);
        return earlier;
      };
      expect((await replace({ value: "9.9.9.8" })).kind).toBe("done");
      instead = (asked) => (isWrite(asked) ? earlier : undefined);
      expect((await replace()).kind).toBe("unknown");
      expect(await peer.held()).toContain(`home ${ttl} A 9.9.9.8`);
    });

    test.each<[string, () => Reply, TargetFault["kind"]]>([
      ["401", () => error(401, `no: ${secret}`), "unauthorised"],
      ["429", () => error(429, "slowly"), "later"],
      ["503", () => error(503, "oops"), "later"],
      ["a web page", () => ({ body: "<html>" }), "later"],
      ["an empty object", () => ({ body: {} }), "later"],
    ])("sends nothing if the first answer is %s", async (_, reply, kind) => {
      let asked = 0;
      instead = () => (asked++ === 0 ? reply() : undefined);
      const outcome = await replace();
      // An API that begins with the write does not know more than that.
      const open = isWrite(server.asked[0] as Asked) && kind === "later";
      if (!open) expect(outcome).toMatchObject({ kind: "refused", fault: { kind } });
      expect(JSON.stringify(outcome)).not.toContain(secret);
    });
  });
}
