import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PostgresServer, startPostgres } from "../../test/rig/postgres.ts";
import type { Table } from "../table.ts";
import { stop } from "./beside-hello.ts";
import { donePerSecond, failedIn, inTurns, ms } from "./in-turns.ts";
import { followerLag, type Node, twoNodes, twoSmallNodes } from "./postgres-nodes.ts";
import { fillManyZones, fillOneZone } from "./postgres-store.ts";
import { hosts } from "./powerdns.ts";
import { startPowerDnsOnPostgres } from "./powerdns-postgres.ts";
import { getOne, putOne } from "./scale.ts";
import type { FilledStore } from "./store.ts";
import { type Load, medianLoad, wrk } from "./wrk.ts";

const seconds = 4;
const ports = { first: 18_961, second: 18_962, large: 18_963, powerdns: 18_965 };
const how = "npm run bench postgres";

/** One PostgreSQL for everything, with its defaults: fsync and synchronous_commit on. */
export async function benchPostgres(): Promise<readonly Table[]> {
  const server = await startPostgres(["fsync=on", "max_connections=200", "shared_buffers=256MB"]);
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
    await close(first);
    const thousand = await fillManyZones(server, "few", 1_000);
    const few = await open(thousand, "few", ports.first);
    const second = await open(thousand, "few", ports.second);
    const nodes = [await twoNodes(server, few, second), await twoSmallNodes(server, few, second)];
    const lag = await followerLag(few, second);
    await close(second);
    const many = await open(await fillManyZones(server, "many", 1_000_000), "many", ports.large);
    return [beside, ...nodes, lag, await flatCost(few, many)];
  } finally {
    await Promise.all(started.map(stop));
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function startNode(server: PostgresServer, database: string, data: string, port: number): Promise<ChildProcess> {
  const place = [
    "--database",
    server.openUrl(database),
    "--data",
    data,
    "--plain-http",
    "--listen",
    `127.0.0.1:${port}`,
  ];
  const child = spawn(process.execPath, ["bin/moor.ts", "records", ...place], {
    env: { ...process.env, ...server.env },
    stdio: ["ignore", "pipe", "inherit"],
  });
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
  const title = `Against PowerDNS' API with gpgsql on the same server, one zone of ${hosts} records, 32 connections, synced`;
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
    rows.push([
      call,
      done(we).toFixed(),
      done(they).toFixed(),
      times,
      "5",
      ms(we.p99),
      failedIn(mine),
      failedIn(others),
    ]);
  }
  started.splice(started.indexOf(powerdns.child), 1);
  await stop(powerdns.child);
  return { title: `${title} (${powerdns.version})`, how, heads, rows };
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
    title: "A thousand zones and a million, 1 connection: time per call",
    how,
    heads: ["call", "1,000 zones", "1,000,000", "times longer", "at most", "failed"],
    rows,
  };
}

const firstPage = ({ token }: FilledStore) => `
request = function()
  return wrk.format("GET", "/api/v1/zones?per_page=100", {["Auth-API-Token"]="${token}"})
end`;

const done = (load: Load): number => donePerSecond(load, seconds);
