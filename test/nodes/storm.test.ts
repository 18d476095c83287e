import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { testLimit } from "../rig/patience.ts";
import { realPause } from "../rig/real-pause.ts";
import { until } from "../rig/until.ts";
import { disagreements } from "./agreement.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { faults } from "./faults.ts";
import { type Storm, startStorm } from "./storm.ts";
import { writeOf } from "./written-names.ts";

/** Every failure happens at least once; with more seconds they repeat, at random nodes. */
const seconds = Number(process.env.MOOR_NODES_SECONDS ?? 0);
vi.setConfig({ testTimeout: 3 * testLimit + seconds * 1_000 });

let cluster: Cluster;
let storm: Storm;

beforeAll(async () => {
  cluster = await startCluster({ count: 3, words: ["--rate-limit", "off"] });
  storm = await startStorm(cluster);
});
afterAll(async () => {
  await storm?.close();
  await cluster?.close();
});

describe("three nodes on one PostgreSQL, under load while things break", () => {
  it("lose nothing, never show part of a write, never go back, and agree in the end", async () => {
    const started = performance.now();
    for (let round = 0; round === 0 || performance.now() - started < seconds * 1_000; round++) {
      for (const [i, fault] of faults.entries()) {
        const node = cluster.nodes[(i + round) % cluster.nodes.length];
        if (node === undefined) throw new Error("no node");
        const before = storm.counts.written;
        await fault.strike(cluster, node);
        await until(() => storm.counts.written > before + 20, {
          what: () => `writes to go on after: ${fault.name}\n${said()}`,
        });
        expect(storm.wrongs.map((wrong) => `${wrong}, in or before: ${fault.name}`)).toEqual([]);
        await realPause(Math.random() * 200, "a random moment");
      }
    }
    await storm.calm();
    await agree();
    expect(storm.wrongs).toEqual([]);
    expect(await faultsInLog()).toEqual([]);
    expect(notIn(await writesInLog())).toEqual([]);
    // If a reader's node has lost its database, the reader gets the changes only with the node's next poll of the log.
    await until(() => notIn(storm.told).length === 0, {
      what: () => `events of ${notIn(storm.told).join(", ")}\n${said()}`,
    });
    expect(storm.counts.read).toBeGreaterThan(100);
    expect(storm.counts.asked).toBeGreaterThan(100);
  });
});

async function agree(): Promise<void> {
  let found: readonly string[] = [];
  const nothingFound = async () => {
    found = await disagreements(cluster, storm.api, storm.names.all());
    return found.length === 0;
  };
  const what = () => `the nodes to agree:\n${found.slice(0, 10).join("\n")}\n${said()}`;
  await until(nothingFound, { what });
}

const said = (): string => cluster.nodes.map((node) => `${node.name}:\n${node.said()}`).join("\n");

/** Answered writes that are not among these. */
const notIn = (found: ReadonlySet<string>): readonly string[] =>
  storm.names.all().flatMap(({ owner, answered }) =>
    Array.from({ length: answered }, (_, i) => `${owner} ${i + 1}`)
      .filter((write) => !found.has(write))
      .map((write) => `${write} of ${answered}`),
  );

async function writesInLog(): Promise<ReadonlySet<string>> {
  const client = await cluster.server.connect();
  const { rows } = await client.query<{ change: string }>("SELECT change FROM changes");
  await client.end();
  const sets = rows.map(({ change }) => (JSON.parse(change) as { readonly after?: LoggedSet | null }).after);
  return new Set(sets.flatMap((set) => (set?.type === "A" ? [writeOf(set.owner, set.records)] : [])));
}

type LoggedSet = { readonly type: string; readonly owner: string; readonly records: readonly { value: string }[] };

/** Serials in the order of the log: within a zone, none is smaller than the one before. */
async function faultsInLog(): Promise<readonly unknown[]> {
  const client = await cluster.server.connect();
  const { rows } = await client.query(
    "SELECT * FROM (SELECT zone, position, serial, lag(serial) OVER (PARTITION BY zone ORDER BY position) AS before " +
      "FROM changes) AS log WHERE serial < before",
  );
  await client.end();
  return rows;
}
