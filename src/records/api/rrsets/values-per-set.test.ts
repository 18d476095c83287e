import { expect, it } from "vitest";
import { rrsetsService } from "../../../../test/rig/records/rrsets-service.ts";

const { call, callV1, newSet, newZone } = rrsetsService({
  recordLimits: { zone: 1_000, account: 10_000, set: 3 },
});

const tooMany = "the A set at www would have 4 values; at most 3 are allowed";
const addresses = (count: number) => Array.from({ length: count }, (_, i) => ({ value: `192.0.2.${i + 1}` }));

it("a set grows up to the operator's limit of values", async () => {
  const { path, values } = await newSet("A", ["192.0.2.1", "192.0.2.2"]);
  const add = (value: string) => call("POST", `${path}/actions/add_records`, { records: [{ value }] });
  expect((await add("192.0.2.3")).status).toBe(201);
  const { status, text } = await add("192.0.2.4");
  expect([status, text]).toEqual([422, expect.stringContaining(tooMany)]);
  expect(await values()).toHaveLength(3);
});

it("the sets of a new zone have the same limit", async () => {
  const draft = (count: number) => ({ rrsets: [{ name: "www", type: "A", records: addresses(count) }] });
  await newZone(draft(3));
  const { status, text } = await call("POST", "/zones", { name: "more.example", mode: "primary", ...draft(4) });
  expect([status, text]).toEqual([422, expect.stringContaining(tooMany)]);
});

it("the v1 API has the same limit", async () => {
  const { zone } = await newSet("A", ["192.0.2.1", "192.0.2.2", "192.0.2.3"]);
  const { json } = await callV1("GET", `/zones?name=${zone.name}`);
  const record = { zone_id: json.zones[0].id, type: "A", name: "www", value: "192.0.2.4" };
  const { status, text } = await callV1("POST", "/records", record);
  expect([status, text]).toEqual([422, expect.stringContaining(tooMany)]);
});

it("a file may bring a larger set", async () => {
  const lines = [
    "@ 60 SOA ns1 hostmaster 1 7200 900 1209600 300",
    ...addresses(4).map(({ value }) => `www 60 A ${value}`),
  ];
  const { record_count } = await newZone({ zonefile: `${lines.join("\n")}\n` });
  expect(record_count).toBeGreaterThan(4);
});
