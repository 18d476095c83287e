import { expect, it } from "vitest";
import { fakeBunny } from "../rig/updater/fakes/bunny.ts";
import { fakeGodaddy } from "../rig/updater/fakes/godaddy.ts";
import type { KeptRecords } from "../rig/updater/fakes/kept-records.ts";
import { fakeNamecom } from "../rig/updater/fakes/namecom.ts";
import { fakePorkbun } from "../rig/updater/fakes/porkbun.ts";
import { fakeSpaceship } from "../rig/updater/fakes/spaceship.ts";
import { fakeVultr } from "../rig/updater/fakes/vultr.ts";
import { never, request, type TargetPeer } from "../rig/updater/target-faults.ts";
import { describeTarget } from "../rig/updater/target-suite.ts";

/** More hosted services, as far as they differ from the others. */

const secret = "t0ken-0123456789abcdefghijklmnopqrstuvwx";
const ours = { secret, several: "left alone" } as const;
const spoken = "a ship in the Hafen – größer als 密码 🔑 0123456789";
const opened = (
  { reply, fill, held }: Pick<KeptRecords, "fill" | "held"> & Pick<TargetPeer, "reply">,
  settings = "token: { file: secret }",
): TargetPeer => ({ settings, ...(reply && { reply }), fill, held, close: () => undefined });

const bunny = fakeBunny(secret);

describeTarget({
  ...{ ...ours, api: "bunny", open: async () => opened(bunny) },
  http: { calls: 3, error: (status, Message) => ({ status, body: { ErrorKey: "some", Field: "", Message } }) },
  more(rig) {
    it("keeps the comment of a record", async () => {
      const [home] = bunny.of("home", "A");
      if (home) home.extra = { Comment: "the hall" };
      await rig.dns.replace(request, never);
      expect(bunny.of("home", "A")).toMatchObject([{ value: "9.9.9.9", extra: { Comment: "the hall" } }]);
    });
  },
});

const porkbun = fakePorkbun(secret);

describeTarget({
  ...{ ...ours, api: "porkbun", open: async () => opened(porkbun, "key: { file: secret }, secret: { file: secret }") },
  ...{ ttl: 600, otherTtl: 900, isWrite: ({ path }) => /\/dns\/(?:edit|create)\//.test(path) },
  http: { calls: 3, error: (status, message) => ({ status, body: { status: "ERROR", message } }) },
  more(rig) {
    it("leaves the notes of a record alone", async () => {
      const [home] = porkbun.of("home", "A");
      if (home) home.extra = { notes: "the house" };
      expect((await rig.dns.replace(request, never)).kind).toBe("done");
      expect(porkbun.of("home", "A")).toMatchObject([{ value: "9.9.9.9", extra: { notes: "the house" } }]);
    });

    it("lists all domains, a thousand at a time", async () => {
      porkbun.state.domains.push(...Array.from({ length: 1500 }, (_, i) => `z${i}.test`));
      const zones = await rig.dns.zones(never);
      porkbun.state.domains.length = 1;
      expect(zones.kind === "found" && zones.value.length).toBe(1501);
    });

    it("passes on that the domain is not opted in to API access", async () => {
      porkbun.state.optedIn = false;
      const outcome = await rig.dns.replace(request, never);
      porkbun.state.optedIn = true;
      expect(outcome).toMatchObject({ kind: "refused", fault: { because: expect.stringMatching(/not opted in/) } });
    });
  },
});

const spaceship = fakeSpaceship(secret, secret);

describeTarget({
  ...{ ...ours, api: "spaceship" },
  open: async () => opened(spaceship, "key: { file: secret }, secret: { file: secret }"),
  http: { calls: 5, error: (status, detail) => ({ status, body: { detail } }) },
  isWrite: ({ method }) => method === "PUT",
  more(rig) {
    it("removes the old address in the next try if that failed, and does not leave the name without an address", async () => {
      rig.instead = ({ method }) => (method === "DELETE" ? { status: 503, body: { detail: "oops" } } : undefined);
      expect((await rig.dns.replace(request, never)).kind).toBe("unknown");
      expect(spaceship.of("home", "A").map(({ value }) => value)).toEqual(["192.0.2.1", "9.9.9.9"]);
      rig.instead = () => undefined;
      expect((await rig.dns.replace(request, never)).kind).toBe("done");
      expect(spaceship.of("home", "A").map(({ value }) => value)).toEqual(["9.9.9.9"]);
    });
  },
});

describeTarget({
  ...{ ...ours, secret: spoken, api: "namecom" },
  open: async () => opened(fakeNamecom("me", spoken), "user: me, token: { file: secret }"),
  http: { calls: 2, error: (status, message) => ({ status, body: { message } }) },
});

describeTarget({
  ...{ ...ours, api: "godaddy", ttl: 600, otherTtl: 900 },
  open: async () => opened(fakeGodaddy(secret, secret), "key: { file: secret }, secret: { file: secret }"),
  http: { calls: 3, error: (status, message) => ({ status, body: { code: "SOME", message } }) },
});

const vultr = fakeVultr(secret);

describeTarget({
  ...{ ...ours, api: "vultr", open: async () => opened(vultr) },
  http: { calls: 3, error: (status, error) => ({ status, body: { error, status } }) },
  more(rig) {
    it("reads a zone of several pages", async () => {
      for (let i = 0; i < 600; i++) vultr.add({ name: `h${i}`, type: "A", ttl: 300, value: "192.0.2.1" });
      const listed = await rig.dns.records("example.org", never);
      expect(listed.kind === "found" && listed.value.length).toBe(604);
    });
  },
});
