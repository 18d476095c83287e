import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { testLimit } from "../rig/patience.ts";
import { until } from "../rig/until.ts";
import { type Answer, type Api, openApi } from "./api.ts";
import { type Cluster, type Node, startCluster } from "./cluster.ts";

vi.setConfig({ testTimeout: testLimit });

let cluster: Cluster;
let api: Api;
beforeAll(async () => {
  cluster = await startCluster({ count: 1, words: ["--rate-limit", "off"] });
  api = openApi(cluster.token);
  for (const name of ["locked.example", "free.example"])
    await api.call(node(), "POST", "/api/v1/zones", { name, ttl: 60 });
});
afterAll(async () => {
  await api?.close();
  await cluster?.close();
});

const node = () => cluster.nodes[0] as Node;
let made = 0;
const write = (zone: string): Promise<Answer> => {
  const body = { name: `n${++made}`, type: "A", records: [{ value: "192.0.2.1" }] };
  return api.call(node(), "POST", `/v1/zones/${zone}/rrsets`, body);
};

it("a locked zone: its writers get 503 with the reason, and nobody else notices", async () => {
  const client = await cluster.server.connect();
  await client.query("BEGIN; SELECT 1 FROM zones WHERE name = 'locked.example' FOR UPDATE");
  const refused: Answer[] = [];
  const free: Answer[] = [];
  const own = Array.from({ length: 4 }, async () => void refused.push(await write("locked.example")));
  const others = async () => {
    while (refused.length < 4) free.push(await write("free.example"));
  };
  await Promise.all([...own, others(), others()]);
  for (const { status, body } of refused)
    expect([status, JSON.stringify(body)]).toEqual([
      503,
      expect.stringContaining("the zone locked.example is locked by another transaction; nothing was written"),
    ]);
  // A batch that waited for the locked zone would let through two per wait.
  expect(free.length).toBeGreaterThan(20);
  expect(free.filter(({ status }) => status !== 201)).toEqual([]);
  await client.end();
  await until(async () => (await write("locked.example")).status === 201, { what: () => "a write after the lock" });
});
