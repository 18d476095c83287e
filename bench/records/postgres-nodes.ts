import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import type { PostgresServer } from "../../test/rig/postgres.ts";
import { readEvents } from "../../test/rig/records/event-reader.ts";
import { usageOf } from "../process-usage.ts";
import type { Table } from "../table.ts";
import { holdBack } from "./hold-back.ts";
import { donePerSecond, failedIn, inTurns, ms } from "./in-turns.ts";
import { getOne, putOne } from "./scale.ts";
import type { FilledStore } from "./store.ts";
import { type Load, medianLoad, wrk } from "./wrk.ts";

/** A running `moor records` and the content of its database. */
export type Node = FilledStore & { readonly url: string; readonly child: ChildProcess };

const seconds = 4;
const how = "npm run bench postgres";

type Measured = Load & { readonly nodeCpu: number; readonly databaseCpu: number };

const heads = [
  ...["call", "one: done/s", "two", "times", "target", "99th percentiles"],
  ...["CPU per call: node", "database", "failed"],
];

/** If node, database and load share processors, the CPU time per call shows where the limit is. */
export async function twoNodes(server: PostgresServer, first: Node, second: Node): Promise<Table> {
  const title = `1,000 zones, one node with 32 connections, two with 16 each; nodes, database and load share ${cpus().length} processors`;
  return { title, how, heads, rows: await oneAgainstTwo(server, [first, second], 16) };
}

const part = 0.3;

/** As if each node had its own small machine; the rest of the processors is for the database and the load. */
export async function twoSmallNodes(server: PostgresServer, first: Node, second: Node): Promise<Table> {
  const title = `The same, each node held to ${part} of a processor by a cgroup and with its own 32 connections`;
  const frees = [first, second].map(({ child }) => holdBack(child.pid ?? 0, part));
  try {
    const cannot = [["no cgroup may be made here", ...heads.slice(1).map(() => "")]];
    const rows = frees.includes(undefined) ? cannot : await oneAgainstTwo(server, [first, second], 32);
    return { title, how, heads, rows };
  } finally {
    for (const free of frees) free?.();
  }
}

async function oneAgainstTwo(server: PostgresServer, nodes: readonly [Node, Node], connectionsOfTwo: number) {
  const rows = [];
  for (const [call, script] of [
    ["read one", getOne],
    ["write one", putOne],
  ] as const) {
    const [one, two] = await inTurns(
      () => measure(server, [nodes[0]], script, 32),
      () => measure(server, nodes, script, connectionsOfTwo),
    );
    const [alone, together] = [medianLoad(one) as Measured, medianLoad(two) as Measured];
    const [a, b] = [donePerSecond(alone, seconds), donePerSecond(together, seconds)];
    const cpu = [alone.nodeCpu, alone.databaseCpu].map((time) => `${((1_000 * time) / (a * seconds)).toFixed(2)} ms`);
    const p99 = `${ms(alone.p99)} and ${ms(together.p99)}`;
    rows.push([call, a.toFixed(), b.toFixed(), (b / a).toFixed(2), "1.5", p99, ...cpu, failedIn([...one, ...two])]);
  }
  return rows;
}

async function measure(
  server: PostgresServer,
  nodes: readonly Node[],
  script: (store: FilledStore, writer: number) => string,
  connections: number,
): Promise<Measured> {
  const used = () => [sum(nodes.map(({ child }) => usageOf(child.pid ?? 0).cpu)), cpuOfServer(server.pid())] as const;
  const [nodeBefore, databaseBefore] = used();
  const loads = await Promise.all(nodes.map((node, i) => wrk(`${node.url}/`, script(node, i), seconds, connections)));
  const [node, database] = used();
  return {
    perSecond: sum(loads.map((load) => load.perSecond)),
    p99: Math.max(...loads.map((load) => load.p99)),
    failed: sum(loads.map((load) => load.failed)),
    nodeCpu: node - nodeBefore,
    databaseCpu: database - databaseBefore,
  };
}

/** CPU seconds of the server with all its processes, including those that have ended. */
function cpuOfServer(postmaster: number): number {
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, "utf8").trim().split(" ");
  const fields = readFileSync(`/proc/${postmaster}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  const ended = (Number(fields[13]) + Number(fields[14])) / 100;
  return ended + sum([postmaster, ...children.map(Number)].map((pid) => usageOf(pid).cpu));
}

const writes = 200;

/** From the answer to a write at one node until a reader of the other node's event stream receives it. */
export async function followerLag(first: Node, second: Node): Promise<Table> {
  const reader = await readEvents(`${second.url}/v1/events`, { authorization: `Bearer ${first.token}` });
  const delays: number[] = [];
  try {
    await reader.until((each) => each.lastId() !== undefined);
    for (let i = 0; i < writes; i += 1) {
      const value = `10.200.${i >> 8}.${i & 255}`;
      const answered = await writeOne(first, i, value);
      const told = () => reader.events.find(({ data }) => JSON.stringify(data.after).includes(`"${value}"`));
      await reader.until(() => told() !== undefined);
      delays.push((told()?.at ?? 0) - answered);
    }
  } finally {
    reader.close();
  }
  const sorted = delays.toSorted((a, b) => a - b);
  const at = (part: number) => ms(sorted[Math.ceil(part * sorted.length) - 1] ?? 0);
  return {
    title:
      "From the answer to a write at one node until the other node streams it; negative: before the answer was read",
    how,
    heads: [`median of ${writes}`, "99th percentile", "target: median"],
    rows: [[at(0.5), at(0.99), "20 ms"]],
  };
}

async function writeOne({ url, token, samples }: Node, i: number, value: string): Promise<number> {
  const sample = samples[i % samples.length];
  if (sample === undefined) throw new Error("no record");
  const answer = await fetch(`${url}/api/v1/records/${sample.id}`, {
    method: "PUT",
    headers: { "Auth-API-Token": token, "content-type": "application/json" },
    body: JSON.stringify({ zone_id: sample.zone, name: sample.name, type: "A", ttl: 60, value }),
  });
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
  return performance.now();
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
