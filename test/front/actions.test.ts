import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { FalseHetzner, fault, type StoredSet } from "./false-hetzner.ts";
import { type Json, Moor } from "./two-moors.ts";

/** When an action may say `success`. */
let front: Moor;
const hetzner = new FalseHetzner();
let sets: Map<string, StoredSet>;
let zone: string;
let zones = 0;

beforeAll(async () => {
  front = await Moor.start();
  const url = await hetzner.start();
  await front.ok("POST", "/providers", { name: "h", kind: "hetzner", url, token: "secret" });
});
afterAll(async () => {
  await front.service.close();
  hetzner.close();
});
beforeEach(async () => {
  hetzner.trick = () => undefined;
  zones += 1;
  zone = `actions${zones}.example`;
  sets = new Map([["www A", { ttl: 300, values: ["192.0.2.1"] }]]);
  hetzner.zones.set(zone, sets);
  await front.ok("POST", "/zones", { name: zone, mode: "primary" });
  const { preview } = await front.ok("GET", `/zones/${zone}/publication/preview?provider=h`);
  await front.ok("POST", `/zones/${zone}/actions/publish`, { provider: "h", digest: preview.digest, fill: "theirs" });
});

const stateOf = async () => (await front.state(zone, "www"))?.state;
const ended = async ({ action: { id } }: Json): Promise<string> => {
  await expect.poll(async () => (await front.action(id)).status).not.toBe("running");
  return (await front.action(id)).status;
};
const noWrites = () => {
  hetzner.trick = ({ method }) => (method === "GET" ? undefined : { status: 422, body: fault("invalid_input") });
};

test("a write that is repeated while the provider refuses it", async () => {
  noWrites();
  expect(await ended(await front.put(zone, "www", "A", ["192.0.2.2"]))).toBe("error");
  expect(await ended(await front.put(zone, "www", "A", ["192.0.2.2"]))).toBe("error");
});

test("a write that is repeated while the provider cannot be reached", async () => {
  let go = () => {};
  const held = new Promise<void>((resolve) => (go = resolve));
  hetzner.trick = async ({ method }) => (method === "GET" ? undefined : (await held, undefined));
  const first = await front.put(zone, "www", "A", ["192.0.2.2"]);
  const second = await front.put(zone, "www", "A", ["192.0.2.2"]);
  expect((await front.action(second.action.id)).status).toBe("running");
  go();
  expect([await ended(first), await ended(second)]).toEqual(["success", "success"]);
});

test("a write of more sets than one action waits for, repeated while the provider refuses them", async () => {
  noWrites();
  const changes = Array.from({ length: 201 }, (_, i) => ({
    name: `many${i}`,
    type: "A",
    ttl: 300,
    records: [{ value: "192.0.2.2" }],
  }));
  const writeAll = () => front.call("POST", `/zones/${zone}/changes`, { changes });
  expect((await writeAll()).status).toBe(201);
  const repeated = await writeAll();
  expect(repeated.status).toBe(503);
  expect(JSON.stringify(repeated.json)).toContain("everything is stored, but over 200 of these sets are not at");
});

const finished = { status: "success", progress: 100, finished: expect.any(String), error: null };

test("an answer that waited for the provider has an action that is finished", async () => {
  const path = `/zones/${zone}/rrsets/www/A/actions/set_records?confirm=provider`;
  const write = async (value: string) => (await front.ok("POST", path, { records: [{ value }] })).action;
  const first = await write("192.0.2.2");
  expect(first).toMatchObject(finished);
  expect(await front.action(first.id)).toEqual(first);
  expect(await write("192.0.2.2")).toMatchObject(finished);
});

test.each([
  ["POST", "/actions/change_ttl", { ttl: 900 }],
  ["POST", "/actions/unpublish", {}],
  ["DELETE", "", undefined],
])("so does that of a change of the zone: %s %s", async (method, path, body) => {
  expect((await front.ok(method, `/zones/${zone}${path}?confirm=provider`, body)).action).toMatchObject(finished);
});

test("put ours back, and the provider refuses that", async () => {
  sets.set("www A", { ttl: 300, values: ["192.0.2.99"] });
  await front.put(zone, "www", "A", ["192.0.2.2"]);
  await expect.poll(stateOf).toBe("drifted");
  noWrites();
  expect(await ended(await front.ok("POST", `/zones/${zone}/rrsets/www/A/actions/put_ours_back`, {}))).toBe("error");
});

test("publish again, and the provider refuses it again", async () => {
  noWrites();
  await front.put(zone, "www", "A", ["192.0.2.2"]);
  await expect.poll(stateOf).toBe("refused");
  expect(await ended(await front.ok("POST", `/zones/${zone}/rrsets/www/A/actions/publish_again`, {}))).toBe("error");
});

test("a change and its undo, before the zone was read with the token of another account", async () => {
  // A token is tried with the list of zones.
  hetzner.trick = ({ path }) => (path.endsWith("/zones") ? undefined : { status: 401, body: fault("unauthorized") });
  const { serial, ...changed } = await front.put(zone, "www", "A", ["192.0.2.2"]);
  sets.set("www A", { ttl: 300, values: ["192.0.2.99"] });
  await front.ok("POST", `/providers/h/actions/replace_token`, { token: "other" });
  const undone = await front.ok("POST", `/zones/${zone}/history/${serial}/undo`, {});
  hetzner.trick = () => undefined;
  expect([await ended(changed), await ended(undone)]).toEqual(["error", "error"]);
});

test("a change of the rule while publishing ends does not begin it again", async () => {
  const path = `/zones/${zone}/actions`;
  const change = () => front.call("POST", `${path}/change_publication`, { drift: "ours" });
  const ends = await Promise.all([front.call("POST", `${path}/unpublish`, {}), ...Array.from({ length: 6 }, change)]);
  expect(ends.map(({ status }) => status)).toEqual([201, ...Array.from({ length: 6 }, () => 422)]);
  expect((await front.ok("GET", `/zones/${zone}/publication`)).publication).toBe(null);
});
