import { afterEach, describe, expect, it, vi } from "vitest";
import { addressesIn, askOverUdp } from "../nameserver/ask-over-udp.ts";
import { isLongRun, rowsOf } from "../rig/long-run.ts";
import { testLimit } from "../rig/patience.ts";
import { startPostgres, startStandby } from "../rig/postgres.ts";
import { realPause } from "../rig/real-pause.ts";
import { until } from "../rig/until.ts";
import { type Api, openApi } from "./api.ts";
import { type Cluster, type Node, startCluster } from "./cluster.ts";

vi.setConfig({ testTimeout: 3 * testLimit });

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

/** Writes before the standby is cut off, after that, and after it has taken over. */
const some = isLongRun ? 500 : 10;
const zones = ["one.example", "two.example"];
const sets = (zone: string) => `/v1/zones/${zone}/rrsets`;

async function makeZones(api: Api, node: Node | undefined): Promise<void> {
  if (node === undefined) throw new Error("no node");
  for (const name of zones)
    expect(await api.call(node, "POST", "/api/v1/zones", { name, ttl: 60 })).toMatchObject({ status: 200 });
}

/** Writes new names at all nodes, until it is stopped. */
function keepWriting(api: Api, nodes: readonly Node[]) {
  const answered: { readonly zone: string; readonly owner: string }[] = [];
  let isOver = false;
  let made = 0;
  const work = async (node: Node) => {
    while (!isOver) {
      const owner = `n${++made}`;
      const zone = zones[made % 2] ?? "";
      const body = { name: owner, type: "A", records: [{ value: "192.0.2.1" }] };
      if ((await api.call(node, "POST", sets(zone), body)).status === 201) answered.push({ zone, owner });
      await realPause(60, "a steady stream of writes, not a flood: every name is queried later");
    }
  };
  const working = nodes.flatMap((node) => [work(node), work(node)]);
  const stop = async () => {
    isOver = true;
    await Promise.all(working);
  };
  opened.push(stop);
  return { answered, stop };
}

/** The five numbers of an SOA are its last 20 bytes. */
async function serialAt(node: Node, zone: string): Promise<number> {
  const reply = await askOverUdp(node.dns, { name: zone, type: 6 });
  const data = reply?.answers.find((record) => record.type === 6)?.data;
  if (data === undefined) throw new Error(`${node.name} does not answer for ${zone}`);
  return Buffer.from(data).readUInt32BE(data.length - 20);
}

async function owners(api: Api, node: Node, zone: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (let page = 1, last = 1; page <= last; page++) {
    const { body } = await api.call(node, "GET", `${sets(zone)}?type=A&per_page=50&page=${page}`);
    const list = body as { rrsets: readonly { name: string }[]; meta: { pagination: { last_page: number } } };
    for (const { name } of list.rrsets) found.add(name);
    last = list.meta.pagination.last_page;
  }
  return found;
}

type FailOverOptions = {
  readonly lag: boolean;
  readonly meanwhile?: "running" | "killed";
  /** The primary is stopped in order: it ends its connections, and waits until the standby has everything. */
  readonly isOrderly?: boolean;
};

type FailedOver = {
  readonly cluster: Cluster;
  readonly api: Api;
  readonly names: ReturnType<typeof keepWriting>["answered"];
  /** The newest serial of each zone before the primary died. */
  readonly sent: ReadonlyMap<string, number>;
};

/**
 * Two nodes write, the primary dies, and its standby takes over. `lag`: the standby misses the last writes.
 * `meanwhile`: the nodes run, or are killed together with the primary and started again.
 */
async function failOver({ lag, meanwhile = "running", isOrderly = false }: FailOverOptions): Promise<FailedOver> {
  const server = await startPostgres();
  const standby = await startStandby(server);
  opened.push(standby.stop);
  if (!lag) {
    const client = await server.connect();
    await client.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await client.query("SELECT pg_reload_conf()");
    await client.end();
  }
  const both = `127.0.0.1:${server.port},127.0.0.1:${standby.port}`;
  const database = `postgres://postgres@${both}/postgres`;
  const cluster = await startCluster({ count: 2, words: ["--rate-limit", "off"], server, database });
  opened.push(cluster.close);
  const api = openApi(cluster.token);
  opened.push(api.close);
  await makeZones(api, cluster.nodes[0]);
  const { answered, stop } = keepWriting(api, cluster.nodes);
  const grow = async (by: number) => {
    const before = answered.length;
    await until(() => answered.length >= before + by, { what: () => `writes to go on\n${saidBy(cluster)}` });
  };
  await grow(some);
  if (lag) standby.cable.silence();
  await grow(some);
  // Everything answered so far has been sent out.
  for (const { owner, zone } of [...answered])
    await askOverUdp(cluster.nodes[0]?.dns ?? 0, { name: `${owner}.${zone}`, type: 1 });
  const sent = new Map<string, number>();
  for (const zone of zones)
    sent.set(zone, Math.max(...(await Promise.all(cluster.nodes.map((node) => serialAt(node, zone))))));
  if (meanwhile === "killed") await Promise.all(cluster.nodes.map((node) => node.kill()));
  // A server that is stopped in order would wait a minute for a standby that it cannot reach.
  if (!isOrderly) process.kill(server.pid(), "SIGQUIT");
  await server.pause();
  await standby.promote();
  if (meanwhile === "killed") await Promise.all(cluster.nodes.map((node) => node.start()));
  await grow(some);
  await stop();
  return { cluster, api, names: answered, sent };
}

const saidBy = ({ nodes }: Cluster) => nodes.map((node) => `${node.name}:\n${node.said()}`).join("\n");

/** What the API shows is what DNS shows, at both nodes. Returns the names that are gone. */
async function agree({ cluster, api, names }: FailedOver): Promise<readonly string[]> {
  const gone: string[] = [];
  for (const zone of zones) {
    const [there] = await Promise.all(cluster.nodes.map((node) => owners(api, node, zone)));
    const wrong = async () => {
      const found: string[] = [];
      for (const node of cluster.nodes)
        for (const name of names.filter((each) => each.zone === zone)) {
          const reply = await askOverUdp(node.dns, { name: `${name.owner}.${zone}`, type: 1 });
          if (addressesIn(reply).length > 0 !== there?.has(name.owner))
            found.push(`${node.name}: ${name.owner}.${zone}`);
        }
      return found;
    };
    let found: readonly string[] = [];
    const isRight = async () => {
      found = await wrong();
      return found.length === 0;
    };
    await until(isRight, {
      what: () => `DNS to show what is stored: ${found.join(", ")}\n${saidBy(cluster)}`,
    });
    gone.push(...names.filter((name) => name.zone === zone && !there?.has(name.owner)).map(({ owner }) => owner));
  }
  return gone;
}

/** `src/serving/lost-changes.test.ts` has the others too, in one process. */
const behind = rowsOf(
  [
    ["what is lost is gone from DNS too", "running"],
    ["and the nodes were killed with the primary", "killed"],
  ] as const,
  "what is lost is gone from DNS too",
);
const upToDate = rowsOf([
  ["and the primary died", false],
  ["and the primary was stopped in order", true],
] as const);

describe("a standby takes over", () => {
  it.for(behind)("that was behind, %s: serials are newer than everything sent out", async ([, meanwhile]) => {
    const over = await failOver({ lag: true, meanwhile });
    expect((await agree(over)).length).toBeGreaterThan(0);
    for (const node of over.cluster.nodes)
      for (const zone of zones) expect(await serialAt(node, zone)).toBeGreaterThan(over.sent.get(zone) ?? 0);
    if (meanwhile === "killed") return;
    for (const node of over.cluster.nodes) expect(node.said()).toContain("the database has lost changes");
    for (const zone of zones) {
      const serials = await Promise.all(over.cluster.nodes.map((node) => serialAt(node, zone)));
      expect(new Set(serials).size).toBe(1);
    }
  });

  it.for(upToDate)("that was up to date, %s: nothing is lost", async ([, isOrderly]) => {
    const over = await failOver({ lag: false, isOrderly });
    expect(await agree(over)).toEqual([]);
    expect(saidBy(over.cluster)).not.toContain("the database has lost changes");
  });
});
