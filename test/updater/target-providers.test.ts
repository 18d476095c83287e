import { expect, it } from "vitest";
import { fakeCloudflare } from "../rig/updater/fakes/cloudflare.ts";
import { fakeDesec } from "../rig/updater/fakes/desec.ts";
import { fakeDigitalocean } from "../rig/updater/fakes/digitalocean.ts";
import { fakeGandi } from "../rig/updater/fakes/gandi.ts";
import { fakeInwx } from "../rig/updater/fakes/inwx.ts";
import { fakeIonos } from "../rig/updater/fakes/ionos.ts";
import { namecheapError, openNamecheap } from "../rig/updater/fakes/namecheap.ts";
import { fakeNetcup } from "../rig/updater/fakes/netcup.ts";
import { fakeOvh } from "../rig/updater/fakes/ovh.ts";
import { fakePorkbun } from "../rig/updater/fakes/porkbun.ts";
import { fakeRoute53 } from "../rig/updater/fakes/route53.ts";
import { never, order, type TargetRig } from "../rig/updater/target-faults.ts";
import { describeTarget } from "../rig/updater/target-suite.ts";

/** Every hosted service, as far as it differs from the others: its fake, its errors and its TTLs. */

const secret = "t0ken-0123456789abcdefghijklmnopqrstuvwx";
const ours = { secret, several: "left alone" } as const;
const opened = (
  fake: Pick<ReturnType<typeof fakeDesec>, "reply" | "fill" | "held">,
  settings = "token: { file: secret }",
) => ({
  ...{ settings, reply: fake.reply, fill: fake.fill, held: fake.held },
  close: () => undefined,
});

const cloudflare = fakeCloudflare(secret);

describeTarget({
  ...{ ...ours, api: "cloudflare", open: async () => opened(cloudflare) },
  more(rig) {
    it("keeps the proxy setting, comment and tags, and sends only what changes", async () => {
      const [home] = cloudflare.of("home", "A");
      const extra = { proxied: true, comment: "the hall", tags: ["owner:me"] };
      if (home) Object.assign(home, { ttl: 1, extra });
      await rig.dns.current(order, never);
      rig.server.asked.length = 0;
      expect(await rig.dns.replace(order, never)).toMatchObject({ kind: "done", ttl: null });
      expect(cloudflare.of("home", "A")).toMatchObject([{ value: "9.9.9.9", ttl: 1, extra }]);
      expect(rig.server.asked.map(({ method, body }) => `${method} ${body}`)).toEqual([
        "GET ",
        'PATCH {"content":"9.9.9.9"}',
      ]);
    });

    it("reports a token in the wrong format as such, though the status is 400", async () => {
      const errors = [{ code: 6003, message: "Invalid request headers" }];
      rig.instead = () => ({ status: 400, body: { success: false, errors, messages: [], result: null } });
      expect(await rig.dns.current(order, never)).toMatchObject({ kind: "unauthorised" });
    });

    it("reads a zone of several pages", async () => {
      for (let i = 0; i < 120; i++) cloudflare.add({ name: `h${i}`, type: "A", ttl: 1, value: "192.0.2.1" });
      const listed = await rig.dns.records("example.org", never);
      expect(listed.kind === "found" && listed.value.length).toBe(124);
    });
  },
  http: {
    calls: 3,
    error: (status, message) => ({
      status,
      body: { success: false, errors: [{ code: 1000, message }], messages: [], result: null },
    }),
  },
});

describeTarget({
  ...{ ...ours, api: "desec", open: async () => opened(fakeDesec(secret)), ttl: 3600, otherTtl: 7200 },
  together: true,
  more(rig) {
    it("says which TTL a zone allows", async () => {
      expect(await rig.dns.replace({ ...order, ttl: 60 }, never)).toMatchObject({
        kind: "refused",
        fault: { because: "deSEC refused: 400: ttl: Ensure this value is greater than or equal to 3600." },
      });
    });
  },
  http: { calls: 2, error: (status, message) => ({ status, body: { detail: message } }) },
});

const route53 = fakeRoute53(secret, secret);

describeTarget({
  ...{ ...ours, api: "route53", open: async () => opened(route53, "key: { file: secret }, secret: { file: secret }") },
  together: true,
  http: { calls: 4, error: (status, message) => route53.error(status, "SomeCode", message) },
  more(rig) {
    it("does not overwrite what another client wrote since the read", async () => {
      rig.instead = ({ method }) => {
        if (method === "POST") route53.put({ name: "home", type: "A", ttl: 300, values: ["192.0.2.66"] });
        return undefined;
      };
      expect(await rig.dns.replace(order, never)).toMatchObject({
        kind: "refused",
        fault: { kind: "later", because: "another client changed the record at the same time" },
      });
      expect(route53.held()).toContain("home 300 A 192.0.2.66");
    });

    it("waits when the account sends too much, though the status is 400", async () => {
      rig.instead = () => route53.error(400, "Throttling", "Rate exceeded");
      expect(await rig.dns.current(order, never)).toMatchObject({ kind: "later", ofService: true });
    });
  },
});

describeTarget({
  ...{ ...ours, api: "gandi", open: async () => opened(fakeGandi(secret)) },
  http: {
    calls: 3,
    error: (code, message) => ({ status: code, body: { code, message, cause: "Some", object: "HTTPSome" } }),
  },
});

describeTarget({
  ...{ ...ours, api: "digitalocean", open: async () => opened(fakeDigitalocean(secret)) },
  http: { calls: 2, error: (status, message) => ({ status, body: { id: "some_error", message } }) },
});

const ovh = fakeOvh(secret);
const ovhKeys = ["applicationKey", "applicationSecret", "consumerKey"]
  .map((name) => `${name}: { file: secret }`)
  .join(", ");

describeTarget({
  ...{ ...ours, api: "ovh", open: async () => opened(ovh, ovhKeys) },
  http: { calls: 6, error: (status, message) => ({ status, body: { class: "Client::Some", message } }) },
  more(rig) {
    it("publishes what it wrote, and does not call it done otherwise", async () => {
      await rig.dns.replace(order, never);
      expect(ovh.isRefreshed.now).toBe(true);
      rig.instead = ({ path }) => (path.endsWith("/refresh") ? { status: 500, body: { message: "oops" } } : undefined);
      expect(await rig.dns.replace({ ...order, value: "9.9.9.8" }, never)).toMatchObject({
        kind: "unknown",
        fault: { afterWrite: true },
      });
    });
  },
});

const ionos = fakeIonos(secret);

describeTarget({
  ...{ ...ours, api: "ionos", open: async () => opened(ionos) },
  http: { calls: 3, error: (status, message) => ({ status, body: [{ code: "SOME_CODE", message }] }) },
  more(rig) {
    it("leaves a disabled record disabled", async () => {
      const [home] = ionos.of("home", "A");
      if (home) home.extra = { disabled: true };
      await rig.dns.replace(order, never);
      expect(ionos.of("home", "A")).toMatchObject([{ value: "9.9.9.9", extra: { disabled: true } }]);
    });
  },
});

const porkbun = fakePorkbun(secret);

describeTarget({
  ...{ ...ours, api: "porkbun", open: async () => opened(porkbun, "key: { file: secret }, secret: { file: secret }") },
  ...{ ttl: 600, otherTtl: 900, isWrite: ({ path }) => /\/dns\/(?:edit|create)\//.test(path) },
  http: { calls: 3, error: (status, message) => ({ status, body: { status: "ERROR", message } }) },
});

/** A session that has ended is opened again with the next try. */
const describeSession = (forget: () => void) => (rig: TargetRig) =>
  it("signs in again after the session has ended", async () => {
    expect((await rig.dns.replace(order, never)).kind).toBe("done");
    forget();
    expect(await rig.dns.replace({ ...order, value: "9.9.9.8" }, never)).toMatchObject({
      fault: { kind: "unauthorised" },
    });
    expect((await rig.dns.replace({ ...order, value: "9.9.9.8" }, never)).kind).toBe("done");
  });

const inwx = fakeInwx("me", secret);

describeTarget({
  ...{ ...ours, api: "inwx", open: async () => opened(inwx, "user: me, password: { file: secret }") },
  isWrite: ({ body }) => /"nameserver\.(?:update|create)Record"/.test(body),
  // Any status but 200 comes from a server in front of the API, and keeps its meaning.
  http: { calls: 4, error: (status, msg) => ({ status, body: { code: 2400, msg } }) },
  more: describeSession(inwx.forget),
});

const netcup = fakeNetcup("123456", secret);

describeTarget({
  ...{ ...ours, api: "netcup", lists: "records only" },
  open: async () => opened(netcup, "customer: 123456, key: { file: secret }, password: { file: secret }"),
  isWrite: ({ body }) => body.includes('"updateDnsRecords"'),
  http: {
    calls: 4,
    error: (status, shortmessage) => ({ status, body: { status: "error", statuscode: 1, shortmessage } }),
  },
  more: describeSession(netcup.forget),
});

describeTarget({
  ...{ ...ours, api: "namecheap", open: () => openNamecheap(secret), lists: false, several: "replaced" },
  isWrite: () => true,
  http: { calls: 1, error: (status, message) => ({ status, body: namecheapError(message) }) },
});
