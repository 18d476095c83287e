import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { action, FalseHetzner, fault, type StoredSet, type Trick } from "./false-hetzner.ts";
import { type Json, Moor } from "./two-moors.ts";

const hetzner = new FalseHetzner();
let front: Moor;
let url: string;
beforeAll(async () => {
  [front, url] = [await Moor.start(), await hetzner.start()];
  await front.ok("POST", "/providers", { name: "h", kind: "hetzner", url, token: "t" });
});
afterAll(async () => {
  await front.service.close();
  hetzner.close();
});
afterEach(() => {
  hetzner.trick = () => undefined;
});

let zones = 0;
async function publishedZone(type: string, value: string, provider = "h"): Promise<string> {
  zones += 1;
  const zone = `zone${zones}.example`;
  hetzner.zones.set(zone, new Map([[`www ${type}`, { ttl: 300, values: [value] }]]));
  await front.ok("POST", "/zones", { name: zone, mode: "primary" });
  const { preview } = await front.ok("GET", `/zones/${zone}/publication/preview?provider=${provider}`);
  const body = { provider, digest: preview.digest, fill: "theirs", read_every: 0 };
  await front.ok("POST", `/zones/${zone}/actions/publish`, body);
  return zone;
}

const isWrite = (method: string): boolean => method !== "GET";
const normal = (values: readonly string[] = []) => values.map((value) => value.replaceAll('"', "")).toSorted();

/** Fails if moor says that the set is published while the provider holds something else. */
async function look(zone: string, type: string): Promise<string> {
  const before = structuredClone(hetzner.zones.get(zone)?.get(`www ${type}`));
  const state: Json = await front.state(zone, "www", type);
  const after: StoredSet | undefined = hetzner.zones.get(zone)?.get(`www ${type}`);
  const isSteady = JSON.stringify(before) === JSON.stringify(after);
  const said = state?.state ?? "published";
  if (said === "published" && isSteady)
    expect({ ttl: after?.ttl, values: normal(after?.values) }).toEqual({
      ttl: state?.ours.ttl,
      values: normal(state?.ours.values),
    });
  return said;
}

/** Tricks of a provider with a write, and the states that may follow while it goes on, and after it has ended. */
const tricks: Record<string, { readonly trick: Trick; readonly meanwhile: RegExp; readonly after: RegExp }> = {
  "reports success and stores nothing": {
    trick: ({ method }) => (isWrite(method) ? { status: 201, body: action() } : undefined),
    meanwhile: /waiting/,
    after: /published/,
  },
  "leaves the action running": {
    trick: ({ method, path }) =>
      isWrite(method) || path.includes("/actions/7") ? { status: 201, body: action("running") } : undefined,
    meanwhile: /waiting/,
    after: /published/,
  },
  "ends the action in an error, and has stored it": {
    trick: ({ method, carryOut }) => {
      if (!isWrite(method)) return undefined;
      carryOut();
      return { status: 201, body: action("error", { code: "action_failed", message: "no" }) };
    },
    meanwhile: /waiting|published/,
    after: /published/,
  },
  "ends the action in an error, and has not stored it": {
    trick: ({ method }) =>
      isWrite(method) ? { status: 201, body: action("error", { code: "action_failed", message: "no" }) } : undefined,
    meanwhile: /waiting/,
    after: /published/,
  },
  "answers 503 after storing it": {
    trick: ({ method, carryOut }) => {
      if (!isWrite(method)) return undefined;
      carryOut();
      return { status: 503, body: fault("unavailable") };
    },
    meanwhile: /waiting|published/,
    after: /published/,
  },
  "answers 422 after storing it": {
    trick: ({ method, carryOut }) => {
      if (!isWrite(method)) return undefined;
      carryOut();
      return { status: 422, body: fault("invalid_input") };
    },
    meanwhile: /waiting|refused|published/,
    after: /refused|published|drifted/,
  },
  "cuts the connection after storing it": {
    trick: ({ method, carryOut }) => {
      if (!isWrite(method)) return undefined;
      carryOut();
      return "cut";
    },
    meanwhile: /waiting|published/,
    after: /published/,
  },
  "cuts the connection before": {
    trick: ({ method }) => (isWrite(method) ? "cut" : undefined),
    meanwhile: /waiting/,
    after: /published/,
  },
  "answers with a web page": {
    trick: ({ method }) => (isWrite(method) ? { status: 200, body: "<html>" } : undefined),
    meanwhile: /waiting/,
    after: /published/,
  },
  "answers 429 with Retry-After": {
    trick: ({ method }) =>
      isWrite(method) ? { status: 429, body: fault("rate_limit_exceeded"), retryAfter: 1 } : undefined,
    meanwhile: /waiting/,
    after: /published/,
  },
  "refuses the token after storing it": {
    trick: (() => {
      let isStored = false;
      return ({ method, carryOut }) => {
        if (isWrite(method) && !isStored) {
          isStored = true;
          carryOut();
          return { status: 201, body: action() };
        }
        return isStored ? { status: 401, body: fault("unauthorized") } : undefined;
      };
    })(),
    meanwhile: /waiting/,
    after: /published/,
  },
  "stores another TTL": {
    trick: ({ method, carryOut, sets }) => {
      if (!isWrite(method)) return undefined;
      carryOut();
      for (const set of sets.values()) set.ttl = 3600;
      return { status: 201, body: action() };
    },
    meanwhile: /waiting|drifted/,
    after: /drifted|published/,
  },
  "stores another value": {
    trick: ({ method, carryOut, sets }) => {
      if (!isWrite(method)) return undefined;
      carryOut();
      for (const set of sets.values())
        set.values = set.values.map((value) => value.toLowerCase().replace("2.2", "2.3"));
      return { status: 201, body: action() };
    },
    meanwhile: /waiting|drifted/,
    after: /drifted|published/,
  },
  "has another client that writes after us": {
    trick: ({ method, carryOut, sets }) => {
      if (!isWrite(method)) return undefined;
      carryOut();
      for (const set of sets.values()) set.values = ["192.0.2.99"];
      return { status: 201, body: action() };
    },
    meanwhile: /waiting|drifted/,
    after: /drifted|published/,
  },
  "loses the zone": {
    trick: ({ path }) =>
      path.includes("/zones/") ? { status: 404, body: fault("not_found", "zone not found") } : undefined,
    meanwhile: /waiting/,
    after: /published/,
  },
};

describe("moor never says published for what the provider does not hold, if it", () => {
  const changes = [
    ["a change", "A", "192.0.2.1", ["192.0.2.2"]],
    ["a deletion", "A", "192.0.2.1", []],
    ["a TXT", "TXT", '"one"', ['"Two Words"', '"2.2"']],
  ] as const;
  const cases = Object.entries(tricks).flatMap(([name, trick]) =>
    changes
      .filter(([what]) => what === "a change" || /stores nothing|another value/.test(name))
      .map((change) => [name, ...change, trick] as const),
  );
  test.each(cases)("%s: %s", async (_, __, type, first, values, { trick, meanwhile, after }) => {
    const zone = await publishedZone(type, first);
    hetzner.trick = trick;
    hetzner.requests = [];
    const change = values.length === 0 ? { delete: true } : { ttl: 300, records: values.map((value) => ({ value })) };
    await front.ok("POST", `/zones/${zone}/changes`, { changes: [{ name: "www", type, ...change }] });
    await expect.poll(() => hetzner.requests.length).toBeGreaterThan(1);
    for (let i = 0; i < 10; i += 1) {
      const said = await look(zone, type);
      // A deletion that the provider has carried out as ordered.
      if (hetzner.zones.get(zone)?.size !== values.length) expect(said).toMatch(meanwhile);
    }
    hetzner.trick = () => undefined;
    await expect.poll(() => look(zone, type)).toMatch(after);
  });
});

const readNow = async (zone: string): Promise<void> => {
  const { id } = (await front.ok("GET", `/zones/${zone}`)).zone;
  await front.service.store.notePublishedZone(id, { readAt: 0 });
  await front.ok("POST", `/zones/${zone}/actions/change_publication`, { read_every: 60 });
};

test("no set is published in a zone that the provider no longer has, until it was read again", async () => {
  const zone = await publishedZone("A", "192.0.2.1");
  const sets = hetzner.zones.get(zone) ?? new Map();
  expect(await look(zone, "A")).toBe("published");
  hetzner.zones.delete(zone);
  await readNow(zone);
  await expect.poll(async () => (await front.state(zone, "www"))?.state).toBe("waiting");
  hetzner.zones.set(zone, sets);
  await expect.poll(() => look(zone, "A")).toBe("published");
});

test("a set that the provider does not store, again and again, does not keep the zone from being read", async () => {
  const zone = await publishedZone("A", "192.0.2.1");
  hetzner.trick = ({ method }) => (isWrite(method) ? { status: 201, body: action() } : undefined);
  await front.put(zone, "www", "A", ["192.0.2.2"]);
  const trouble = async () => (await front.ok("GET", `/zones/${zone}/publication`)).publication.trouble?.text;
  await expect.poll(trouble).toMatch(/does not hold what was written/);
  hetzner.zones.get(zone)?.set("new A", { ttl: 300, values: ["192.0.2.9"] });
  await readNow(zone);
  await expect.poll(async () => (await front.state(zone, "new"))?.state).toBe("drifted");
  expect(await look(zone, "A")).toBe("waiting");
});

test("with the token of another account, no set is published before the zone was read there", async () => {
  await front.ok("POST", "/providers", { name: "moving", kind: "hetzner", url, token: "t" });
  const zone = await publishedZone("A", "192.0.2.1", "moving");
  expect(await look(zone, "A")).toBe("published");
  hetzner.zones.set(zone, new Map([["www A", { ttl: 300, values: ["192.0.2.99"] }]]));
  await front.ok("POST", "/providers/moving/actions/replace_token", { token: "u" });
  await expect.poll(() => look(zone, "A")).toBe("drifted");
  expect((await front.state(zone, "www")).theirs.values).toEqual(["192.0.2.99"]);
});
