import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Scope } from "../../src/core/may.ts";
import { createLog } from "../../src/process/log.ts";
import { type RunningDns, startDns } from "../../src/serving/start.ts";
import { run } from "../nameserver/moor-dns.ts";
import { until } from "../rig/until.ts";
import { HeldProvider } from "./held-provider.ts";
import { Moor } from "./two-moors.ts";

/** What the provider has after a write, as a line; and how to write it, and how the answer reads. */
type Api = {
  readonly set: "www A" | "_acme-challenge TXT";
  readonly write: (asked: Asked) => Promise<string>;
  readonly done: RegExp;
  /** The provider does not have it in time. */
  readonly late: RegExp;
};
type Asked = { readonly at: Front; readonly value: string; readonly scope: Scope; readonly isConfirmed: boolean };
type Front = { readonly moor: Moor; readonly dns: RunningDns; readonly zone: string };

let there: Moor;
/** One waits long enough for the provider, the other half a second. */
let fronts: { readonly patient: Front; readonly hasty: Front };
const provider = new HeldProvider(() => there.service.url);

beforeAll(async () => {
  there = await Moor.start();
  const url = await provider.start();
  fronts = { patient: await startFront("patient.example", url), hasty: await startFront("hasty.example", url, 500) };
});
afterAll(async () => {
  provider.close();
  for (const { moor, dns } of Object.values(fronts)) {
    await dns.close();
    await moor.service.close();
  }
  await there.service.close();
});
beforeEach(() => provider.hold());
afterEach(async () => {
  provider.letThrough();
  for (const { moor, zone } of Object.values(fronts)) {
    const counts = async () => (await moor.ok("GET", `/zones/${zone}/publication`)).publication.counts;
    await until(async () => (await counts()).waiting === 0, { what: () => "everything to be published" });
  }
});

async function startFront(zone: string, url: string, confirmWithin?: number): Promise<Front> {
  const moor = await Moor.start({ confirmWithin });
  const listen = [{ host: "127.0.0.1", port: 0 }];
  const dns = await startDns({ listen, nameservers: ["ns1.example.net"], store: moor.service.store, log: quiet });
  for (const each of [there, moor]) await each.ok("POST", "/zones", { name: zone, mode: "primary" });
  await there.put(zone, "www", "A", ["192.0.2.1"]);
  await moor.ok("POST", "/providers", { name: "h", kind: "hetzner", url, token: there.token });
  const { preview } = await moor.ok("GET", `/zones/${zone}/publication/preview?provider=h`);
  await moor.ok("POST", `/zones/${zone}/actions/publish`, { provider: "h", digest: preview.digest, fill: "theirs" });
  return { moor, dns, zone };
}

const quiet = createLog({ format: "text", level: "silent", write: () => {} });

const confirmed = ({ isConfirmed }: Asked): string => (isConfirmed ? "?confirm=provider" : "");

async function fetched(
  { moor }: Front,
  path: string,
  headers: Record<string, string>,
  body?: unknown,
  method = "POST",
) {
  const sent = body === undefined ? {} : { method, body: JSON.stringify(body) };
  const answer = await fetch(`${moor.service.url}${path}`, { ...sent, headers });
  return `${answer.status} ${await answer.text()}`;
}

const basic = (token: string) => ({ authorization: `Basic ${Buffer.from(`x:${token}`).toString("base64")}` });
const json = { "content-type": "application/json" };

/** As a signed-in person's browser sends it. */
async function asPerson(at: Front, path: string, body: unknown): Promise<string> {
  const { origin, hash } = new URL(await at.moor.service.createSignInLink("main"));
  const link = JSON.stringify({ link: hash.slice(1) });
  const entered = await fetch(`${origin}/console/sign-in-link`, {
    method: "POST",
    headers: { ...json, origin },
    body: link,
  });
  const cookie = entered.headers
    .getSetCookie()
    .map((each) => each.split(";")[0])
    .join("; ");
  const session = await fetch(`${origin}/console/session`, { headers: { cookie } });
  const { csrf } = (await session.json()) as { csrf: string };
  return await fetched(at, path, { ...json, origin, cookie, "x-csrf-token": csrf }, body);
}

async function byDnsUpdate({ at: { moor, dns, zone }, value, scope }: Asked): Promise<string> {
  const [name, secret] = [`k${randomBytes(4).toString("hex")}`, randomBytes(32).toString("base64")];
  const key = { name, algorithm: "hmac-sha256", secret, scope, account: undefined, created: Date.now() } as const;
  await moor.service.store.addTransferKey(key);
  const lines = [`server 127.0.0.1 ${dns.addresses[0]?.port}`, `zone ${zone}`, `update delete www.${zone} A`];
  const text = [...lines, `update add www.${zone} 300 A ${value}`, "send", ""].join("\n");
  return await run("nsupdate", ["-v", "-y", `hmac-sha256:${name}:${secret}`], text);
}

const apis: Record<string, Api> = {
  "the v1 API": {
    set: "www A",
    write: async ({ at, value, scope }) => {
      const headers = { ...json, "auth-api-token": await at.moor.newToken(scope) };
      const found = await fetched(at, "/api/v1/records", headers);
      const { records } = JSON.parse(found.slice(4)) as { records: { id: string; type: string; zone_id: string }[] };
      const { id, zone_id } = records.find(({ type }) => type === "A") ?? { id: "", zone_id: "" };
      return await fetched(
        at,
        `/api/v1/records/${id}`,
        headers,
        { zone_id, type: "A", name: "www", value, ttl: 300 },
        "PUT",
      );
    },
    done: /^200 /,
    late: /^503 .*not at the provider after 0.5 seconds/,
  },
  "record sets": {
    set: "www A",
    write: async (asked) => {
      const path = `/v1/zones/${asked.at.zone}/rrsets/www/A/actions/set_records${confirmed(asked)}`;
      const headers = { ...json, authorization: `Bearer ${asked.at.moor.token}` };
      return await fetched(asked.at, path, headers, { records: [{ value: asked.value }] });
    },
    done: /^201 /,
    late: /^503 .*not at the provider after 0.5 seconds/s,
  },
  dyndns2: {
    set: "www A",
    write: async ({ at, value, scope }) =>
      await fetched(at, `/nic/update?hostname=www.${at.zone}&myip=${value}`, basic(await at.moor.newToken(scope))),
    done: /^200 good /,
    late: /^503 911 .*not at the provider after 0.5 seconds/,
  },
  "DNS UPDATE": { set: "www A", write: byDnsUpdate, done: /^$/, late: /SERVFAIL/ },
  httpreq: {
    set: "_acme-challenge TXT",
    write: async ({ at, value, scope }) => {
      const body = { fqdn: `_acme-challenge.${at.zone}.`, value };
      return await fetched(at, "/httpreq/present", { ...json, ...basic(await at.moor.newToken(scope)) }, body);
    },
    done: /^200 /,
    late: /^503 .*not at the provider after 0.5 seconds/,
  },
  "acme-dns": {
    set: "_acme-challenge TXT",
    write: async ({ at, value, scope }) => {
      const headers = { ...json, "x-api-user": "x", "x-api-key": await at.moor.newToken(scope) };
      return await fetched(at, "/acme-dns/update", headers, { subdomain: "_acme-challenge", txt: value });
    },
    done: /^200 /,
    late: /^503 .*not at the provider after 0.5 seconds/,
  },
  "the console": {
    set: "www A",
    write: async (asked) => {
      const path = `/v1/zones/${asked.at.zone}/rrsets/www/A/actions/set_records${confirmed(asked)}`;
      return await asPerson(asked.at, path, { records: [{ value: asked.value }] });
    },
    done: /^201 /,
    late: /^503 .*not at the provider after 0.5 seconds/s,
  },
};

let values = 1;
/** Nobody has written it before. */
function valueFor({ set }: Api): string {
  values += 1;
  return set === "www A" ? `192.0.2.${values}` : randomBytes(32).toString("base64url");
}

describe.each(Object.entries(apis))("a write to a published zone by %s", (_, api) => {
  const [owner = "", type = ""] = api.set.split(" ");
  const write = (at: Front, value: string, isConfirmed: boolean) => {
    const limited = { access: "write", zones: [at.zone], sets: [{ owner, types: [type as "A"] }] } as const;
    return api.write({ at, value, isConfirmed, scope: isConfirmed ? { ...limited, confirm: "provider" } : limited });
  };
  const isThere = async (value: string, { zone }: Front) =>
    (await there.lines(zone)).some((line) => line.includes(value));

  test("is answered when it is stored, and waits until the provider has it", async () => {
    const [value, at] = [valueFor(api), fronts.patient];
    const state = async () => (await at.moor.state(at.zone, owner, type)).state;
    expect(await write(at, value, false)).toMatch(api.done);
    expect([await state(), await isThere(value, at)]).toEqual(["waiting", false]);
    provider.letThrough();
    await expect.poll(state).toBe("published");
    expect(await isThere(value, at)).toBe(true);
  });

  test("is answered when the provider has it, if the caller wants that", async () => {
    const [value, at] = [valueFor(api), fronts.patient];
    let answer: string | undefined;
    const written = write(at, value, true).then((text) => {
      answer = text;
    });
    await expect.poll(() => provider.arrived).toBeGreaterThan(0);
    expect(answer).toBeUndefined();
    provider.letThrough();
    await written;
    expect([answer, await isThere(value, at)]).toEqual([expect.stringMatching(api.done), true]);
  });

  test("is answered with an error if the provider does not have it in time, even if it is repeated", async () => {
    const [value, at] = [valueFor(api), fronts.hasty];
    for (let i = 0; i < 2; i += 1) expect(await write(at, value, true)).toMatch(api.late);
    expect(await isThere(value, at)).toBe(false);
  });
});
