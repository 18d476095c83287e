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
import type { Asked, Reply } from "../rig/updater/services.ts";
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
  http: { calls: 7, error: (status, message) => ({ status, body: { class: "Client::Some", message } }) },
  more(rig) {
    const failing = (isLast: (asked: Asked) => boolean, reply: Reply) => {
      rig.instead = (asked) => (isLast(asked) ? reply : undefined);
    };
    const isRefresh = ({ path }: Asked) => path.endsWith("/refresh");
    const isPut = ({ method }: Asked) => method === "PUT";
    const refreshes = () => rig.server.asked.filter(isRefresh).length;

    it.each<[string, Reply]>([
      ["fails", { status: 500, body: { message: "oops" } }],
      ["is refused", { status: 409, body: { message: "a task is running" } }],
      ["gets no answer", { fault: "reset" }],
      ["is for a zone that has gone", { status: 404, body: { message: "This service does not exist" } }],
    ])("is done only when the change is served: if the refresh %s, the next try repeats it", async (_, reply) => {
      ovh.state.served = [];
      failing(isRefresh, reply);
      expect(await rig.dns.replace(order, never)).toMatchObject({ kind: "unknown", fault: { afterWrite: true } });
      expect(await rig.dns.replace(order, never)).toMatchObject({ kind: "unknown", fault: { afterWrite: true } });
      expect(ovh.state.served).not.toContain("home 300 A 9.9.9.9");
      rig.instead = () => undefined;
      expect((await rig.dns.replace(order, never)).kind).toBe("done");
      expect(ovh.state.served).toContain("home 300 A 9.9.9.9");
    });

    it("a new process refreshes too, because it does not know whether the one before did", async () => {
      ovh.put({ name: "home", type: "A", ttl: 300, values: ["9.9.9.9"] });
      expect(await rig.dns.replace(order, never)).toMatchObject({ kind: "done", already: true });
      expect(ovh.state.served).toContain("home 300 A 9.9.9.9");
    });

    it("a read does not confirm a change that is not served yet", async () => {
      rig.instead = (asked) => {
        if (isPut(asked)) ovh.put({ name: "home", type: "A", ttl: 300, values: ["9.9.9.9"] });
        return isPut(asked) || isRefresh(asked) ? { fault: "reset" } : undefined;
      };
      expect((await rig.dns.replace(order, never)).kind).toBe("unknown");
      expect(await rig.dns.current(order, never)).toMatchObject({ kind: "later", afterWrite: true });
      rig.instead = () => undefined;
      expect(await rig.dns.current(order, never)).toMatchObject({ value: { values: ["9.9.9.9"] } });
      expect(ovh.state.served).toContain("home 300 A 9.9.9.9");
    });

    it("a read alone, and a write that was refused, publish nothing", async () => {
      failing(isPut, { status: 403, body: { message: "no" } });
      expect((await rig.dns.replace(order, never)).kind).toBe("refused");
      await rig.dns.current(order, never);
      expect(refreshes()).toBe(0);
    });

    it.each([3_600, -3_600])(
      "works if this machine's clock is %i s off, and if it is corrected later",
      async (ahead) => {
        ovh.state.ahead = ahead;
        expect((await rig.dns.replace(order, never)).kind).toBe("done");
        ovh.state.ahead = 0;
        expect((await rig.dns.replace({ ...order, value: "9.9.9.8" }, never)).kind).toBe("done");
      },
    );
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

/** Sessions end without notice. */
const describeSession =
  (forget: () => void, isWrite: (asked: Asked) => boolean, isSignIn: (asked: Asked) => boolean) => (rig: TargetRig) => {
    const signIns = () => rig.server.asked.filter(isSignIn).length;

    it("signs in again within the same try if the session has ended before the read", async () => {
      await rig.dns.current(order, never);
      forget();
      expect((await rig.dns.replace(order, never)).kind).toBe("done");
      expect(signIns()).toBeLessThanOrEqual(2);
    });

    it("signs in again within the same try if the session ends between the read and the write", async () => {
      await rig.dns.current(order, never);
      rig.server.asked.length = 0;
      rig.instead = (asked) => {
        if (isWrite(asked) && signIns() === 0) forget();
        return undefined;
      };
      expect((await rig.dns.replace(order, never)).kind).toBe("done");
      expect([signIns(), rig.server.asked.filter(isWrite).length]).toEqual([1, 2]);
    });

    it("reports what the service denies even to a new session", async () => {
      rig.instead = (asked) => {
        if (!isSignIn(asked)) forget();
        return undefined;
      };
      expect(await rig.dns.replace(order, never)).toMatchObject({ kind: "refused", fault: { kind: "unauthorised" } });
      expect(signIns()).toBeLessThanOrEqual(2);
    });
  };

for (const [title, idOf] of [
  ["inwx", String],
  ["inwx, with the ids of 2024", Number],
] as const) {
  const inwx = fakeInwx("me", secret, idOf);
  const isWrite = ({ body }: Asked) => /"nameserver\.(?:update|create)Record"/.test(body);
  describeTarget({
    ...{ ...ours, api: "inwx", title, open: async () => opened(inwx, "user: me, password: { file: secret }") },
    isWrite,
    // Any status but 200 comes from a server in front of the API, and keeps its meaning.
    http: { calls: 4, error: (status, msg) => ({ status, body: { code: 2400, msg } }) },
    more: describeSession(inwx.forget, isWrite, ({ body }) => body.includes('"account.login"')),
  });
}

const netcup = fakeNetcup("123456", secret);
const isNetcupWrite = ({ body }: Asked) => body.includes('"updateDnsRecords"');

describeTarget({
  ...{ ...ours, api: "netcup", lists: "records only" },
  open: async () => opened(netcup, "customer: 123456, key: { file: secret }, password: { file: secret }"),
  isWrite: isNetcupWrite,
  http: {
    calls: 4,
    error: (status, shortmessage) => ({ status, body: { status: "error", statuscode: 1, shortmessage } }),
  },
  more: describeSession(netcup.forget, isNetcupWrite, ({ body }) => body.includes('"action":"login"')),
});

describeTarget({
  ...{ ...ours, api: "namecheap", open: () => openNamecheap(secret), lists: false, several: "replaced" },
  isWrite: () => true,
  http: { calls: 1, error: (status, message) => ({ status, body: namecheapError(message) }) },
});
