import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ReplaceRequest } from "../../../src/updater/targets/target.ts";
import { targetKinds } from "../../../src/updater/targets/targets.ts";
import { openConfigured } from "./configured-target.ts";
import { type Asked, type Reply, startServer } from "./services.ts";
import { describeFaults, faultOf, never, request, type TargetPeer, type TargetRig } from "./target-faults.ts";
import { describeTogether } from "./target-together.ts";

export type TargetCase = {
  readonly api: string;
  readonly title?: string;
  readonly open: () => Promise<TargetPeer>;
  /** The right credential. It must never show up in a message. */
  readonly secret: string;
  /** What the file `secret` holds. Default: the credential itself. */
  readonly fileOf?: (secret: string) => string;
  /** For HTTP: the requests for one replaced address, and an error in the service's own format. */
  readonly http?: { readonly calls: number; readonly error: (status: number, message: string) => Reply };
  readonly lists?: false | "records only";
  /** What happens to a set with two addresses. */
  readonly several: "left alone" | "replaced";
  /** The TTL of the records: some services do not allow every TTL. */
  readonly ttl?: number;
  readonly otherTtl?: number;
  /** It can write several records in one transaction. */
  readonly together?: true;
  /** What the service's answers lack: the address, a reason for refusals, or the name in the request. */
  readonly lacks?: readonly ("address" | "reason" | "name")[];
  /** Whether a request may change something. */
  readonly isWrite?: (asked: Asked) => boolean;
  /** As of the faults. */
  readonly everyFault?: boolean;
  /** Tests of what only this service has. */
  readonly more?: (rig: TargetRig) => void;
};

/** What every target must do, whatever its API. */
export function describeTarget(target: TargetCase): void {
  const { api, title = api, secret, http, ttl = 300, otherTtl = 600, fileOf = (text) => text } = target;
  const can = targetKinds[api]?.can;
  const { lacks = [] } = target;
  /** What is claimed only if a request has the name: not a single test otherwise, because a run may skip none. */
  const ofNames = lacks.includes("name") ? [] : ["zone"];
  /** A fault of that kind, if the service says what is wrong. */
  const about = (kind: string) => (lacks.includes("reason") ? {} : { kind });

  describe(`target ${title}`, () => {
    const rig = { instead: () => undefined } as Partial<TargetRig> as TargetRig;
    const first = [
      `home ${ttl} A 192.0.2.1`,
      `home ${ttl} AAAA 2001:db8::1`,
      `home ${ttl} TXT "hello"`,
      `other ${ttl} A 192.0.2.2`,
    ];
    const withHome = (line: string) =>
      first.map((each) => (each.startsWith(`home ${ttl} A `) ? line : each)).toSorted();

    beforeAll(async () => {
      const peer = await target.open();
      rig.peer = peer;
      rig.server = await startServer(async (asked) => (await rig.instead(asked)) ?? (await peer.reply?.(asked)) ?? {});
      rig.dns = await open(secret);
    });
    afterAll(async () => {
      rig.dns?.close();
      await rig.server?.close();
      await rig.peer?.close();
    });
    beforeEach(async () => {
      rig.instead = () => undefined;
      await rig.peer.fill(first);
      rig.server.asked.length = 0;
    });

    const open = (credential: string) => {
      const { settings, reply } = rig.peer;
      const where = reply && !settings.includes("URL") ? `url: "${rig.server.url}", ` : "";
      const written = where + settings.replaceAll("URL", rig.server.url);
      return openConfigured(api, written, { secret: fileOf(credential) });
    };
    const replace = (more: Partial<ReplaceRequest> = {}) => rig.dns.replace({ ...request, ...more }, never);

    it("replaces an address and keeps everything else", async () => {
      expect(await replace()).toMatchObject({ kind: "done" });
      expect(await rig.peer.held()).toEqual(withHome(`home ${ttl} A 9.9.9.9`));
      if (http) expect(rig.server.asked.map(({ method, path }) => `${method} ${path}`)).toHaveLength(http.calls);
    });

    it.each(can?.ipv6 === false ? [] : ["2a00::9"])("replaces an IPv6 address", async (value) => {
      expect(await replace({ family: "ipv6", value })).toMatchObject({ kind: "done" });
      expect(await rig.peer.held()).toContain(`home ${ttl} AAAA 2a00::9`);
      expect(await rig.peer.held()).toContain(`home ${ttl} A 192.0.2.1`);
    });

    it.each(ofNames)("knows the %s itself as @", async () => {
      await rig.peer.fill([...first, `@ ${ttl} A 192.0.2.9`]);
      expect(await replace({ name: "@" })).toMatchObject({ kind: "done" });
      expect(await rig.peer.held()).toEqual([...first, `@ ${ttl} A 9.9.9.9`].toSorted());
    });

    it.each(can?.ttl ? [otherTtl] : [])("sets the TTL %i if it is ordered", async (wanted) => {
      expect(await replace({ ttl: wanted })).toMatchObject({ kind: "done", ttl: wanted });
      expect(await rig.peer.held()).toEqual(withHome(`home ${otherTtl} A 9.9.9.9`));
    });

    it.each(ofNames)("creates nothing in a %s unless it is asked to", async () => {
      expect(await replace({ name: "new" })).toMatchObject({ kind: "refused", fault: about("missing") });
      expect(await rig.peer.held()).toEqual(first.toSorted());
    });

    it.each(can?.create ? [can.ttl ? otherTtl : ttl] : [])("creates a record, with the TTL %i", async (made) => {
      expect(await replace({ name: "new", create: true, ttl: otherTtl })).toMatchObject({ kind: "done" });
      expect(await rig.peer.held()).toEqual([...first, `new ${made} A 9.9.9.9`].toSorted());
      expect(await replace({ name: "new", create: true, value: "9.9.9.8" })).toMatchObject({ kind: "done" });
      expect(await rig.peer.held()).toEqual([...first, `new ${made} A 9.9.9.8`].toSorted());
    });

    it("can remove a record only if it says so", () => expect("remove" in rig.dns).toBe(can?.remove ?? false));
    it.each(can?.remove ? ["192.0.2.1"] : [])("removes a record that holds %s, and no other", async (value) => {
      const left = first.filter((line) => !line.startsWith(`home ${ttl} A `)).toSorted();
      const remove = (more: Partial<ReplaceRequest>) => rig.dns.remove?.({ ...request, ...more }, never);
      expect(await remove({ value: "192.0.2.9" })).toEqual({ kind: "left", values: [value] });
      expect(await remove({ name: "new" })).toEqual({ kind: "left", values: [] });
      expect(await rig.peer.held()).toEqual(first.toSorted());
      expect(await remove({ value })).toEqual({ kind: "removed" });
      expect(await rig.peer.held()).toEqual(left);
      expect(await remove({ value })).toEqual({ kind: "left", values: [] });
    });

    it(`a set with two addresses is ${target.several}`, async () => {
      const both = [...first, `home ${ttl} A 192.0.2.7`];
      await rig.peer.fill(both);
      // A new target: that of v1 remembers which of the two records it wrote before.
      const fresh = await open(secret);
      const outcome = await fresh.replace(request, never);
      fresh.close();
      if (target.several === "replaced") {
        expect(outcome.kind).toBe("done");
        expect(await rig.peer.held()).toEqual(withHome(`home ${ttl} A 9.9.9.9`));
      } else {
        expect(outcome).toMatchObject({ kind: "refused", fault: { kind: "ambiguous" } });
        expect(await rig.peer.held()).toEqual(both.toSorted());
      }
    });

    it("reads what a record holds", async () => {
      expect(await rig.dns.current(request, never)).toMatchObject({ kind: "found", value: { values: ["192.0.2.1"] } });
      expect(await rig.dns.current({ ...request, name: "new" }, never)).toMatchObject({ kind: "missing" });
    });

    it.each(ofNames)("says that a %s is missing", async () => {
      const outcome = await replace({ zone: "example.net" });
      expect(outcome).toMatchObject({ kind: "refused", fault: about("missing") });
      if (!lacks.includes("reason")) expect(faultOf(outcome)?.because).toContain("example.net");
    });

    const { lists = "zones and records" } = target;
    it.each(lists === false ? ["example.org"] : [])("says that it cannot list %s", async (zone) => {
      for (const listed of [await rig.dns.zones(never), await rig.dns.records(zone, never)])
        expect(listed).toMatchObject({ kind: "unsupported", because: expect.stringContaining("cannot list") });
    });
    it.each(lists === false ? [] : [lists])("lists %s, and shows one by the id in the list", async (listed) => {
      const zones = await rig.dns.zones(never);
      if (listed !== "records only")
        expect(zones.kind === "found" && zones.value.map(({ name }) => name)).toEqual(["example.org"]);
      const records = await rig.dns.records("example.org", never);
      const home = records.kind === "found" && records.value.find(({ type, name }) => name === "home" && type === "A");
      expect(home).toMatchObject({ value: "192.0.2.1" });
      const shown = await rig.dns.record(home ? home.id : "", never);
      expect(shown).toMatchObject({ kind: "found", value: { name: "home", type: "A", value: "192.0.2.1" } });
      expect(await rig.dns.record("example.org/nobody/A", never)).toMatchObject({ kind: "missing" });
    });

    it("says that a credential is wrong, and what to do", async () => {
      const wrong = await open("wr0ng-secret-1234567");
      try {
        const outcome = await wrong.replace(request, never);
        expect(outcome).toMatchObject({ kind: "refused", fault: about("unauthorised") });
        expect(JSON.stringify(outcome)).not.toContain("wr0ng");
        expect(await rig.peer.held()).toEqual(first.toSorted());
      } finally {
        wrong.close();
      }
    });

    const { together = false, isWrite } = target;
    it("can write several at a time only if the case says so", () => expect("replaceAll" in rig.dns).toBe(together));
    if (together) describeTogether(rig, first, { ttl, error: http?.error, ...(isWrite && { isWrite }) });

    target.more?.(rig);
    if (http) describeFaults(rig, { ...target, ttl, error: http.error, echoes: !lacks.includes("address") });
  });
}
