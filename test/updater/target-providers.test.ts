import { expect, it } from "vitest";
import { openConfigured } from "../rig/updater/configured-target.ts";
import { fakeCloudflare } from "../rig/updater/fakes/cloudflare.ts";
import { fakeDesec } from "../rig/updater/fakes/desec.ts";
import { fakeDigitalocean } from "../rig/updater/fakes/digitalocean.ts";
import { fakeGandi } from "../rig/updater/fakes/gandi.ts";
import { fakeInwx } from "../rig/updater/fakes/inwx.ts";
import { fakeIonos } from "../rig/updater/fakes/ionos.ts";
import { namecheapError, openNamecheap } from "../rig/updater/fakes/namecheap.ts";
import { fakeNetcup } from "../rig/updater/fakes/netcup.ts";
import { fakeNetcupCloud } from "../rig/updater/fakes/netcup-cloud.ts";
import { fakeOvh } from "../rig/updater/fakes/ovh.ts";
import { fakeRoute53 } from "../rig/updater/fakes/route53.ts";
import type { Asked, Reply } from "../rig/updater/services.ts";
import { never, request, type TargetRig } from "../rig/updater/target-faults.ts";
import { describeTarget } from "../rig/updater/target-suite.ts";

/** Every hosted service, as far as it differs from the others: its fake, its errors and its TTLs. */

const secret = "t0ken-0123456789abcdefghijklmnopqrstuvwx";
const ours = { secret, several: "left alone" } as const;
/** Where the protocol encodes it, a secret is any text. */
const spoken = "a ship in the Hafen – größer als 密码 🔑 0123456789";
const opened = (
  fake: Pick<ReturnType<typeof fakeDesec>, "reply" | "fill" | "held">,
  settings = "token: { file: secret }",
) => ({
  ...{ settings, reply: fake.reply, fill: fake.fill, held: fake.held },
  close: () => undefined,
});

const cloudflare = fakeCloudflare(secret);

describeTarget({
  ...{ ...ours, api: "cloudflare", open: async () => opened(cloudflare), everyFault: true },
  more(rig) {
    it("keeps the proxy setting, comment and tags, and sends only what changes", async () => {
      const [home] = cloudflare.of("home", "A");
      const extra = { proxied: true, comment: "the hall", tags: ["owner:me"] };
      if (home) Object.assign(home, { ttl: 1, extra });
      await rig.dns.current(request, never);
      rig.server.asked.length = 0;
      expect(await rig.dns.replace(request, never)).toMatchObject({ kind: "done", ttl: null });
      expect(cloudflare.of("home", "A")).toMatchObject([{ value: "9.9.9.9", ttl: 1, extra }]);
      expect(rig.server.asked.map(({ method, body }) => `${method} ${body}`)).toEqual([
        "GET ",
        'PATCH {"content":"9.9.9.9"}',
        "GET ",
      ]);
    });

    it("reports a token in the wrong format as such, though the status is 400", async () => {
      const errors = [{ code: 6003, message: "Invalid request headers" }];
      rig.instead = () => ({ status: 400, body: { success: false, errors, messages: [], result: null } });
      expect(await rig.dns.current(request, never)).toMatchObject({ kind: "unauthorised" });
    });

    it("finds the zone of the account that the config names", async () => {
      const twin = { ...cloudflare.zone, id: "f".repeat(32), account: { id: "0".repeat(32), name: "Agency" } };
      cloudflare.others.push(twin);
      const open = async (account: string) =>
        await openConfigured("cloudflare", `url: "${rig.server.url}", token: { file: secret }, account: "${account}"`, {
          secret,
        });
      const [main, agency] = [await open(cloudflare.zone.account.id), await open(twin.account.id)];
      expect(await main.current(request, never)).toMatchObject({ kind: "found" });
      expect(await agency.current(request, never)).toMatchObject({ kind: "missing" });
      cloudflare.others.length = 0;
      for (const each of [main, agency]) each.close();
    });

    it("reads a zone of several pages", async () => {
      for (let i = 0; i < 120; i++) cloudflare.add({ name: `h${i}`, type: "A", ttl: 1, value: "192.0.2.1" });
      const listed = await rig.dns.records("example.org", never);
      expect(listed.kind === "found" && listed.value.length).toBe(124);
    });
  },
  http: {
    calls: 4,
    error: (status, message) => ({
      status,
      body: { success: false, errors: [{ code: 1000, message }], messages: [], result: null },
    }),
  },
});

const desec = fakeDesec(secret);

describeTarget({
  ...{ ...ours, api: "desec", open: async () => opened(desec), ttl: 3600, otherTtl: 7200 },
  together: true,
  more(rig) {
    it("says which TTL a zone allows", async () => {
      expect(await rig.dns.replace({ ...request, ttl: 60 }, never)).toMatchObject({
        kind: "refused",
        fault: { because: "deSEC refused: 400: ttl: Ensure this value is greater than or equal to 3600." },
      });
    });

    it("lists a zone of several pages, and all domains", async () => {
      for (let i = 0; i < 1_200; i++) desec.add({ name: `h${i}`, type: "A", ttl: 3600, value: "192.0.2.1" });
      expect(await rig.dns.records("example.org", never)).toMatchObject({ value: { length: 1_204 } });
      desec.others.push(...Array.from({ length: 600 }, (_, i) => `d${i}.example`));
      expect(await rig.dns.zones(never)).toMatchObject({ value: { length: 601 } });
    });
  },
  http: { calls: 3, error: (status, message) => ({ status, body: { detail: message } }) },
});

const route53 = fakeRoute53(secret, secret);

describeTarget({
  ...{ ...ours, api: "route53", open: async () => opened(route53, "key: { file: secret }, secret: { file: secret }") },
  together: true,
  http: { calls: 4, error: (status, message) => route53.error(status, "SomeCode", message) },
  more(rig) {
    it.each<["InvalidChangeBatch" | "ErrorResponse", readonly string[]]>([
      ["InvalidChangeBatch", ["192.0.2.66"]],
      ["ErrorResponse", ["192.0.2.66"]],
      ["ErrorResponse", []],
    ])("does not overwrite what another client wrote since the read (%s, %j)", async (format, values) => {
      route53.format.now = format;
      rig.instead = ({ method }) => {
        if (method === "POST") route53.put({ name: "home", type: "A", ttl: 300, values });
        return undefined;
      };
      expect(await rig.dns.replace(request, never)).toMatchObject({
        kind: "refused",
        fault: { kind: "later", because: "another client changed the record at the same time" },
      });
      expect(route53.of("home", "A").map(({ value }) => value)).toEqual(values);
    });

    it.each(["InvalidChangeBatch", "ErrorResponse"] as const)("says why AWS refuses a change (%s)", async (format) => {
      route53.format.now = format;
      route53.put({ name: "alias", type: "CNAME", ttl: 300, values: ["home.example.org."] });
      expect(await rig.dns.replace({ ...request, name: "alias", create: true }, never)).toMatchObject({
        kind: "refused",
        fault: {
          kind: "refused",
          because: expect.stringMatching(
            /^Route 53 refused: 400: InvalidChangeBatch: \[?RRSet of type A with DNS name alias\.example\.org\. is not permitted/,
          ),
        },
      });
    });

    it("lists a zone of several pages, and all public zones", async () => {
      for (let i = 0; i < 650; i++) route53.add({ name: `h${i}`, type: "A", ttl: 300, value: "192.0.2.1" });
      const listed = await rig.dns.records("example.org", never);
      expect(listed.kind === "found" && listed.value.length).toBe(654);
      const isPrivate = (i: number) => i % 2 === 1;
      const others = Array.from({ length: 250 }, (_, i) => ({
        id: `Y${i}`,
        name: `z${i}.test`,
        isPrivate: isPrivate(i),
      }));
      route53.otherZones.push(...others);
      const zones = await rig.dns.zones(never);
      expect(zones.kind === "found" && zones.value.length).toBe(126);
      route53.otherZones.length = 0;
    });

    it("finds the public zone after any number of private ones of the same name", async () => {
      const twins = Array.from({ length: 120 }, (_, i) => ({ id: `A${i}`, name: "example.org", isPrivate: true }));
      route53.otherZones.push(...twins);
      const fresh = await openConfigured(
        "route53",
        `url: "${rig.server.url}", key: { file: secret }, secret: { file: secret }`,
        { secret },
      );
      expect((await fresh.current(request, never)).kind).toBe("found");
      fresh.close();
      route53.otherZones.length = 0;
    });

    it("does not follow a list without an end", async () => {
      rig.instead = (asked) => {
        if (!asked.path.includes("/rrset")) return undefined;
        const { body } = route53.reply(asked);
        const next = "<IsTruncated>true</IsTruncated><NextRecordName>a.example.org.</NextRecordName>";
        return { body: String(body).replace("<IsTruncated>false</IsTruncated>", next) };
      };
      expect(await rig.dns.records("example.org", never)).toMatchObject({
        kind: "later",
        because: expect.stringContaining("does not end"),
      });
    });

    it("waits when the account sends too much, though the status is 400", async () => {
      rig.instead = () => route53.error(400, "Throttling", "Rate exceeded");
      expect(await rig.dns.current(request, never)).toMatchObject({ kind: "later", ofService: true });
    });
  },
});

const gandi = fakeGandi(secret);

describeTarget({
  ...{ ...ours, api: "gandi", open: async () => opened(gandi) },
  http: {
    calls: 3,
    error: (code, message) => ({ status: code, body: { code, message, cause: "Some", object: "HTTPSome" } }),
  },
  more(rig) {
    it("lists a zone of several pages, and all domains", async () => {
      for (let i = 0; i < 250; i++) gandi.add({ name: `h${i}`, type: "A", ttl: 300, value: "192.0.2.1" });
      const listed = await rig.dns.records("example.org", never);
      expect(listed.kind === "found" && listed.value.length).toBe(254);
      gandi.domains.push(...Array.from({ length: 150 }, (_, i) => `z${i}.test`));
      const zones = await rig.dns.zones(never);
      expect(zones.kind === "found" && zones.value.length).toBe(151);
      gandi.domains.length = 1;
      // Whatever host the links name, the token is sent only to the configured one.
      expect(rig.server.asked.map(({ path }) => path.split("?")[0])).toEqual([
        ...Array.from({ length: 3 }, () => "/domains/example.org/records"),
        ...["/domains", "/domains"],
      ]);
    });

    it.each<[string, Reply, string]>([
      ["never ends", { body: [], headers: { link: '</domains?page=2>; rel="next"' } }, "does not end"],
      ["breaks off", { status: 404, body: { code: 404, message: "gone" } }, "changed while it was read"],
    ])("a list that %s is not taken for a shorter one", async (_, reply, because) => {
      const first = { body: [], headers: { link: '</domains?page=2>; rel="next"' } };
      rig.instead = ({ path }) => (path.includes("page=2") ? reply : first);
      expect(await rig.dns.zones(never)).toMatchObject({ kind: "later", because: expect.stringContaining(because) });
    });
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
      expect(await rig.dns.replace(request, never)).toMatchObject({ kind: "unknown", fault: { afterWrite: true } });
      expect(await rig.dns.replace(request, never)).toMatchObject({ kind: "unknown", fault: { afterWrite: true } });
      expect(ovh.state.served).not.toContain("home 300 A 9.9.9.9");
      rig.instead = () => undefined;
      expect((await rig.dns.replace(request, never)).kind).toBe("done");
      expect(ovh.state.served).toContain("home 300 A 9.9.9.9");
    });

    it("a new process refreshes too, because it does not know whether the one before did", async () => {
      ovh.put({ name: "home", type: "A", ttl: 300, values: ["9.9.9.9"] });
      expect(await rig.dns.replace(request, never)).toMatchObject({ kind: "done", already: true });
      expect(ovh.state.served).toContain("home 300 A 9.9.9.9");
    });

    it("a read does not confirm a change that is not served yet", async () => {
      rig.instead = (asked) => {
        if (isPut(asked)) ovh.put({ name: "home", type: "A", ttl: 300, values: ["9.9.9.9"] });
        return isPut(asked) || isRefresh(asked) ? { fault: "reset" } : undefined;
      };
      expect((await rig.dns.replace(request, never)).kind).toBe("unknown");
      expect(await rig.dns.current(request, never)).toMatchObject({ kind: "later", afterWrite: true });
      rig.instead = () => undefined;
      expect(await rig.dns.current(request, never)).toMatchObject({ value: { values: ["9.9.9.9"] } });
      expect(ovh.state.served).toContain("home 300 A 9.9.9.9");
    });

    it("a read alone, and a write that was refused, publish nothing", async () => {
      failing(isPut, { status: 403, body: { message: "no" } });
      expect((await rig.dns.replace(request, never)).kind).toBe("refused");
      await rig.dns.current(request, never);
      expect(refreshes()).toBe(0);
    });

    it.each([3_600, -3_600])(
      "works if this machine's clock is %i s off, and if it is corrected later",
      async (ahead) => {
        ovh.state.ahead = ahead;
        expect((await rig.dns.replace(request, never)).kind).toBe("done");
        ovh.state.ahead = 0;
        expect((await rig.dns.replace({ ...request, value: "9.9.9.8" }, never)).kind).toBe("done");
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
      await rig.dns.replace(request, never);
      expect(ionos.of("home", "A")).toMatchObject([{ value: "9.9.9.9", extra: { disabled: true } }]);
    });
  },
});

/** Sessions end without notice. */
const describeSession =
  (forget: () => void, isWrite: (asked: Asked) => boolean, isSignIn: (asked: Asked) => boolean) => (rig: TargetRig) => {
    const signIns = () => rig.server.asked.filter(isSignIn).length;

    it("signs in again within the same try if the session has ended before the read", async () => {
      await rig.dns.current(request, never);
      forget();
      expect((await rig.dns.replace(request, never)).kind).toBe("done");
      expect(signIns()).toBeLessThanOrEqual(2);
    });

    it("signs in again within the same try if the session ends between the read and the write", async () => {
      await rig.dns.current(request, never);
      rig.server.asked.length = 0;
      rig.instead = (asked) => {
        if (isWrite(asked) && signIns() === 0) forget();
        return undefined;
      };
      expect((await rig.dns.replace(request, never)).kind).toBe("done");
      expect([signIns(), rig.server.asked.filter(isWrite).length]).toEqual([1, 2]);
    });

    it("reports what the service denies even to a new session", async () => {
      rig.instead = (asked) => {
        if (!isSignIn(asked)) forget();
        return undefined;
      };
      expect(await rig.dns.replace(request, never)).toMatchObject({ kind: "refused", fault: { kind: "unauthorised" } });
      expect(signIns()).toBeLessThanOrEqual(2);
    });
  };

for (const [title, idOf] of [
  ["inwx", String],
  ["inwx, with the ids of 2024", Number],
] as const) {
  const inwx = fakeInwx("me", spoken, idOf);
  const isWrite = ({ body }: Asked) => /"nameserver\.(?:update|create)Record"/.test(body);
  describeTarget({
    ...{
      ...ours,
      secret: spoken,
      api: "inwx",
      title,
      open: async () => opened(inwx, "user: me, password: { file: secret }"),
    },
    isWrite,
    // Any status but 200 comes from a server in front of the API, and keeps its meaning.
    http: { calls: 4, error: (status, msg) => ({ status, body: { code: 2400, msg } }) },
    more(rig) {
      describeSession(inwx.forget, isWrite, ({ body }) => body.includes('"account.login"'))(rig);
      it("lists all domains, whatever their number", async () => {
        inwx.others.splice(0, Number.POSITIVE_INFINITY, ...Array.from({ length: 1_999 }, (_, i) => `d${i}.example`));
        expect(await rig.dns.zones(never)).toMatchObject({ value: { length: 2_000 } });
        inwx.others.length = 0;
      });
    },
  });
}

const netcup = fakeNetcup("123456", spoken);
const isNetcupWrite = ({ body }: Asked) => body.includes('"updateDnsRecords"');

describeTarget({
  ...{ ...ours, secret: spoken, api: "netcup", lists: "records only" },
  open: async () => opened(netcup, "customer: 123456, key: { file: secret }, password: { file: secret }"),
  isWrite: isNetcupWrite,
  http: {
    calls: 4,
    error: (status, shortmessage) => ({ status, body: { status: "error", statuscode: 1, shortmessage } }),
  },
  more: describeSession(netcup.forget, isNetcupWrite, ({ body }) => body.includes('"action":"login"')),
});

const netcupCloud = fakeNetcupCloud(secret);

describeTarget({
  ...{ ...ours, api: "netcup-cloud", open: async () => opened(netcupCloud) },
  together: true,
  isWrite: ({ method }) => method === "POST",
  http: {
    calls: 8,
    error: (status, message) => ({ status, body: { success: false, errors: [{ code: "", message }], result: null } }),
  },
  more(rig) {
    it("reads what is served, and not what somebody edits", async () => {
      netcupCloud.openDraft([{ name: "home", type: "A", rdata: "192.0.2.99", ttl: 300 }]);
      expect(await rig.dns.current(request, never)).toMatchObject({ value: { values: ["192.0.2.1"] } });
    });

    it("names the other API for a zone that has not moved, or is not there", async () => {
      netcupCloud.domains.push({ id: 4712, fqdn: "old.example", isDnsManaged: false });
      for (const zone of ["old.example", "nowhere.example"])
        expect(await rig.dns.replace({ ...request, zone }, never)).toMatchObject({
          kind: "refused",
          fault: { kind: "missing", todo: expect.stringContaining("`api: netcup`") },
        });
      netcupCloud.domains.pop();
    });
  },
});

describeTarget({
  ...{
    ...ours,
    secret: spoken,
    api: "namecheap",
    open: () => openNamecheap(spoken),
    lists: false,
    several: "replaced",
  },
  isWrite: () => true,
  http: { calls: 1, error: (status, message) => ({ status, body: namecheapError(message) }) },
});
