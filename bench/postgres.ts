import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { readEvents } from "../src/records/rig/event-reader.ts";
import { type PostgresServer, startPostgres } from "../test/rig/postgres.ts";
import { stop } from "./beside-hello.ts";
import { fillManyZones, fillOneZone } from "./postgres-store.ts";
import { hosts } from "./powerdns.ts";
import { startPowerDnsOnPostgres } from "./powerdns-postgres.ts";
import { getOne, putOne } from "./records-scale.ts";
import type { FilledStore } from "./records-store.ts";
import type { Table } from "./run.ts";
import { type Load, medianLoad, wrk } from "./wrk.ts";

const seconds = 4;
const rounds = 3;
const ports = { first: 18_961, second: 18_962, large: 18_963, powerdns: 18_965 };
const how = "npm run bench postgres";

/** One PostgreSQL for all of it, as it comes: fsync and synchronous_commit on. */
export async function benchPostgres(): Promise<readonly Table[]> {
  const server = await startPostgres(["max_connections=200", "shared_buffers=256MB"]);
  const folder = await mkdtemp(join(tmpdir(), "moor-bench-postgres-"));
  const started: ChildProcess[] = [];
  const open = async (filled: FilledStore, database: string, port: number): Promise<Node> => {
    const child = await startNode(server, database, join(folder, String(port)), port);
    started.push(child);
    return { ...filled, child, url: `http://127.0.0.1:${port}` };
  };
  const close = async (node: Node) => {
    started.splice(started.indexOf(node.child), 1);
    await stop(node.child);
  };
  try {
    const zone = await fillOneZone(server, "zone", hosts);
    const first = await open(zone, "zone", ports.first);
    const beside = await besidePowerDns(server, first, started);
    const second = await open(zone, "zone", ports.second);
    const nodes = await twoNodes(first, second);
    const lag = await followerLag(first, second);
    await Promise.all([close(first), close(second)]);
    const few = await open(await fillManyZones(server, "few", 1_000), "few", ports.first);
    const many = await open(await fillManyZones(server, "many", 1_000_000), "many", ports.large);
    return [beside, nodes, lag, await flatCost(few, many)];
  } finally {
    await Promise.all(started.map(stop));
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

type Node = FilledStore & { readonly url: string; readonly child: ChildProcess };

async function startNode(server: PostgresServer, database: string, data: string, port: number): Promise<ChildProcess> {
  const place = ["--database", server.url(database), "--data", data, "--plain-http", "--listen", `127.0.0.1:${port}`];
  const child = spawn(process.execPath, ["bin/moor.ts", "records", ...place], { stdio: ["ignore", "pipe", "inherit"] });
  const gone = once(child, "exit").then(() => Promise.reject(new Error("no moor")));
  await Promise.race([once(child.stdout, "data"), gone]);
  gone.catch(() => undefined);
  return child;
}

async function besidePowerDns(server: PostgresServer, moor: Node, started: ChildProcess[]): Promise<Table> {
  const heads = [
    "call",
    "moor: done/s",
    "PowerDNS",
    "times",
    "target",
    "our 99th percentile",
    "failed: moor",
    "PowerDNS",
  ];
  const title = `Beside PowerDNS' API with gpgsql on the same server, one zone of ${hosts} records, 32 connections, synced`;
  const powerdns = await startPowerDnsOnPostgres(ports.powerdns, server);
  if (powerdns === undefined) {
    return {
      title,
      how,
      heads,
      rows: [["PowerDNS (pdns-backend-pgsql) is not installed", ...heads.slice(1).map(() => "")]],
    };
  }
  started.push(powerdns.child);
  const rows = [];
  for (const [call, ours, theirs] of [
    ["read one", getOne(moor), powerdns.get],
    ["write one", putOne(moor), powerdns.put],
  ] as const) {
    const [mine, others] = await inTurns(
      () => wrk(`${moor.url}/`, ours, seconds),
      () => wrk(`http://127.0.0.1:${ports.powerdns}/`, theirs, seconds),
    );
    const [we, they] = [medianLoad(mine), medianLoad(others)];
    const times = (done(we) / done(they)).toFixed(1);
    rows.push([call, whole(done(we)), whole(done(they)), times, "5", ms(we.p99), failedIn(mine), failedIn(others)]);
  }
  started.splice(started.indexOf(powerdns.child), 1);
  await stop(powerdns.child);
  return { title: `${title} (${powerdns.version})`, how, heads, rows };
}

async function twoNodes(first: Node, second: Node): Promise<Table> {
  const rows = [];
  for (const [call, script] of [
    ["read one", getOne],
    ["write one", putOne],
  ] as const) {
    const [one, two] = await inTurns(
      () => wrk(`${first.url}/`, script(first), seconds),
      async () => {
        const halves = await Promise.all([first, second].map((node) => wrk(`${node.url}/`, script(node), seconds, 16)));
        return halves.reduce((a, b) => ({
          perSecond: a.perSecond + b.perSecond,
          p99: Math.max(a.p99, b.p99),
          failed: a.failed + b.failed,
        }));
      },
    );
    const [alone, together] = [medianLoad(one), medianLoad(two)];
    const times = (done(together) / done(alone)).toFixed(2);
    const p99 = `${ms(alone.p99)} and ${ms(together.p99)}`;
    rows.push([call, whole(done(alone)), whole(done(together)), times, "1.5", p99, failedIn([...one, ...two])]);
  }
  return {
    title: `One node with 32 connections, and two with 16 each; nodes, database and load share ${cpus().length} processors`,
    how,
    heads: ["call", "one: done/s", "two", "times", "target", "99th percentiles", "failed"],
    rows,
  };
}

const writes = 200;

/** From the answer to a write at one node until the other has told it to a reader of its event stream. */
async function followerLag(first: Node, second: Node): Promise<Table> {
  const headers = { "Auth-API-Token": first.token, "content-type": "application/json" };
  const reader = await readEvents(`${second.url}/v1/events`, { authorization: `Bearer ${first.token}` });
  const delays: number[] = [];
  try {
    await reader.until((each) => each.lastId() !== undefined);
    for (let i = 0; i < writes; i += 1) {
      const sample = first.samples[i % first.samples.length];
      if (sample === undefined) throw new Error("no record");
      const value = `10.9.${i >> 8}.${i & 255}`;
      const body = { zone_id: sample.zone, name: sample.name, type: "A", ttl: 60, value };
      const answer = await fetch(`${first.url}/api/v1/records/${sample.id}`, {
        method: "PUT",
        headers,
        body: JSON.stringify(body),
      });
      if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
      const answered = performance.now();
      await reader.until(({ events }) => events.length > i);
      delays.push((reader.events[i]?.at ?? 0) - answered);
    }
  } finally {
    reader.close();
  }
  const sorted = delays.toSorted((a, b) => a - b);
  const at = (part: number) => ms(sorted[Math.ceil(part * sorted.length) - 1] ?? 0);
  return {
    title: "From the answer of a write at one node until the other has told it",
    how,
    heads: [`median of ${writes}`, "99th percentile", "target: median"],
    rows: [[at(0.5), at(0.99), "20 ms"]],
  };
}

async function flatCost(few: Node, many: Node): Promise<Table> {
  const rows = [];
  for (const [call, script] of [
    ["the first page of zones", firstPage],
    ["read one record", getOne],
    ["write one record", putOne],
  ] as const) {
    const [small, large] = await inTurns(
      () => wrk(`${few.url}/`, script(few), seconds, 1),
      () => wrk(`${many.url}/`, script(many), seconds, 1),
    );
    const [a, b] = [medianLoad(small), medianLoad(large)];
    const times = (done(a) / done(b)).toFixed(2);
    rows.push([call, ms(1_000 / done(a)), ms(1_000 / done(b)), times, "2", failedIn([...small, ...large])]);
  }
  return {
    title: "A thousand zones and a million, 1 connection: time for a call",
    how,
    heads: ["call", "1,000 zones", "1,000,000", "times longer", "at most", "failed"],
    rows,
  };
}

const firstPage = ({ token }: FilledStore) => `
request = function()
  return wrk.format("GET", "/api/v1/zones?per_page=100", {["Auth-API-Token"]="${token}"})
end`;

/** Measured in turns, so that a noisy machine is noisy for both. */
async function inTurns(one: () => Promise<Load>, other: () => Promise<Load>): Promise<readonly [Load[], Load[]]> {
  const [ones, others]: [Load[], Load[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    ones.push(await one());
    others.push(await other());
  }
  return [ones, others];
}

const done = (load: Load): number => load.perSecond - load.failed / seconds;
const whole = (number: number): string => String(Math.round(number));
const ms = (time: number): string => `${time.toFixed(time < 10 ? 2 : 1)} ms`;
const failedIn = (loads: readonly Load[]): string => String(loads.reduce((sum, load) => sum + load.failed, 0));
