import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { noLog } from "../../src/process/log.ts";
import { openStore } from "../../src/records/open-store.ts";
import { addressesIn, askOverUdp } from "../nameserver/ask-over-udp.ts";
import { testLimit } from "../rig/patience.ts";
import { createRandom } from "../rig/random.ts";
import { realPause } from "../rig/real-pause.ts";
import { addressOf } from "../rig/records/postgres.ts";
import { seed } from "../rig/seed.ts";
import { until } from "../rig/until.ts";
import { type Api, openApi } from "./api.ts";
import { type Cluster, type Node, startCluster } from "./cluster.ts";

/** `npm run test:faults` sets more. */
const rounds = Math.max(1, Number(process.env.MOOR_KILLS ?? 0) / 20);
const size = process.env.MOOR_LONG === undefined ? 1_500 : 9_000;
vi.setConfig({ testTimeout: testLimit + rounds * 120_000 });

const zone = "large.example";
const path = `/v1/zones/${zone}`;
let cluster: Cluster;
let api: Api;
beforeAll(async () => {
  cluster = await startCluster({ count: 2, words: ["--rate-limit", "off"] });
  api = openApi(cluster.token);
});
afterAll(async () => {
  await api?.close();
  await cluster?.close();
});

type Wire = {
  readonly zone?: { readonly id: string; readonly ttl: number };
  readonly action?: { readonly id: number; readonly status: string };
  readonly dnssec?: { readonly signed: boolean };
};
const get = async (node: Node, at: string) => (await api.call(node, "GET", at)).body as Wire;

async function fill(node: Node): Promise<void> {
  const made = await api.call(node, "POST", "/api/v1/zones", { name: zone, ttl: 60 });
  expect(made.status).toBe(200);
  const zone_id = (made.body as Wire).zone?.id;
  const records = Array.from({ length: size }, (_, i) => ({ zone_id, type: "A", name: `h${i}`, value: "192.0.2.1" }));
  expect((await api.call(node, "POST", "/api/v1/records/bulk", { records })).status).toBe(200);
}

/** What the zone is now: everything that a whole-zone write changes. */
async function stateAt(node: Node): Promise<string> {
  const found = await api.call(node, "GET", path);
  if (found.status === 404) return "deleted";
  const { ttl } = (found.body as Wire).zone ?? {};
  const { dnssec } = await get(node, `${path}/dnssec`);
  return `${dnssec?.signed ? "signed" : "unsigned"} ${ttl}`;
}

const writes = [
  { what: "sign", method: "POST", at: `${path}/actions/sign`, body: {}, after: "signed 60" },
  { what: "ttl", method: "POST", at: `${path}/actions/change_ttl`, body: { ttl: 120 }, after: "signed 120" },
  { what: "unsign", method: "POST", at: `${path}/actions/unsign`, body: { immediately: true }, after: "unsigned 120" },
  { what: "delete", method: "DELETE", at: path, body: undefined, after: "deleted" },
] as const;

/** Repeats a write until it is done; a node that was killed cannot say whether it was. */
async function finish(node: Node, { method, at, body, after }: (typeof writes)[number]): Promise<void> {
  await until(
    async () => {
      if ((await stateAt(node)) === after) return true;
      const { action } = (await api.call(node, method, at, body)).body as Wire;
      const isOver = async () => (await get(node, `/v1/actions/${action?.id}`)).action?.status !== "running";
      if (action?.status === "running") await until(isOver, { what: () => "the action to end" });
      return (await stateAt(node)) === after;
    },
    { what: () => `${after}\n${node.said()}` },
  );
}

async function expectWhole(): Promise<void> {
  expect(await cluster.run("store", "check")).toMatch(/no faults/i);
}

async function removeLeftovers(): Promise<void> {
  const { store, close } = await openStore({ kind: "postgres", address: addressOf(cluster.server.url()) }, noLog);
  while (await store.removeLeftovers(Date.now() + 3_600_000));
  await close();
  const client = await cluster.server.connect();
  expect((await client.query("SELECT * FROM leftovers")).rows).toEqual([]);
  await client.end();
}

it("a node is killed while it signs, changes, unsigns or deletes a large zone: nothing is half done, and the other node goes on", async () => {
  const random = createRandom(seed);
  for (let round = 0; round < rounds; round++) {
    const [one, two] = cluster.nodes as [Node, Node];
    await fill(one);
    for (const write of writes) {
      const before = await stateAt(two);
      const asked = api.call(one, write.method, write.at, write.body);
      await realPause(
        random(write.what === "sign" || write.what === "ttl" ? size / 3 : 60),
        "the kill comes at any moment",
      );
      await one.kill();
      await asked;
      expect([before, write.after]).toContain(await stateAt(two));
      await expectWhole();
      // Nobody got an answer to this write, so a busy node may show it a little later. A commit that was sent before
      // the kill may also happen later.
      const shown = async () => addressesIn(await askOverUdp(two.dns, { name: `h7.${zone}`, type: 1 })).length;
      let state = "";
      const agree = async () => {
        state = await stateAt(two);
        return (await shown()) === (state === "deleted" ? 0 : 1);
      };
      await until(agree, { what: () => `DNS to show a zone that is ${state}\n${two.said()}` });
      await finish(two, write);
      await one.start();
      expect(await stateAt(one)).toBe(write.after);
      // Whether it left the store whole is checked after the next kill, or at the end.
    }
    await removeLeftovers();
    await expectWhole();
  }
});
