import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Table } from "../table.ts";
import { type PowerDns, startPowerDns } from "./powerdns.ts";
import { type FilledStore, fillStore } from "./store.ts";
import { type Load, medianLoad, wrk } from "./wrk.ts";

const seconds = 4;
const rounds = 3;
const ports = { small: 18_971, large: 18_972, powerdns: 18_981 };

/** A store of a thousand records against one of a million, and both against PowerDNS, measured in turns. */
export async function benchRecordsScale(): Promise<readonly Table[]> {
  const folder = await mkdtemp(join(tmpdir(), "moor-scale-"));
  const started: ChildProcess[] = [];
  try {
    const small = await open(join(folder, "small"), 10, ports.small, started);
    const large = await open(join(folder, "large"), 10_000, ports.large, started);
    const powerdns = await startPowerDns(ports.powerdns);
    if (powerdns) started.push(powerdns.child);
    return [await flatCost(small, large), await listing(large), await besidePowerDns(small, powerdns)];
  } finally {
    await Promise.all(started.map(stop));
    await rm(folder, { recursive: true, force: true });
  }
}

type Opened = FilledStore & { readonly url: string };

async function open(folder: string, zones: number, port: number, started: ChildProcess[]): Promise<Opened> {
  await mkdir(folder);
  const filled = await fillStore(folder, zones, zones > 10);
  const listen = ["--listen", `127.0.0.1:${port}`, "--data", folder, "--plain-http"];
  const child = spawn(process.execPath, ["bin/moor.ts", "records", ...listen], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  started.push(child);
  await Promise.race([
    once(child.stdout, "data"),
    once(child, "exit").then(() => Promise.reject(new Error("no moor"))),
  ]);
  return { ...filled, url: `http://127.0.0.1:${port}` };
}

async function flatCost(small: Opened, large: Opened): Promise<Table> {
  const rows = [];
  for (const [call, script] of [
    ["GET one record", getOne],
    ["PUT one record, synced", putOne],
  ] as const) {
    const loads = { small: [] as Load[], large: [] as Load[] };
    for (let round = 0; round < rounds; round += 1) {
      loads.small.push(await wrk(`${small.url}/`, script(small), seconds));
      loads.large.push(await wrk(`${large.url}/`, script(large), seconds));
    }
    const [few, many] = [medianLoad(loads.small), medianLoad(loads.large)];
    const failed = [...loads.small, ...loads.large].reduce((sum, load) => sum + load.failed, 0);
    const ratio = (few.perSecond / many.perSecond).toFixed(2);
    const p99 = `${few.p99.toFixed(1)} and ${many.p99.toFixed(1)} ms`;
    rows.push([call, perSecond(few), perSecond(many), p99, ratio, "1.5", String(failed)]);
  }
  return {
    title: "A store of 1,000 records (10 zones) and of 1,000,000 (10,000 zones), 32 connections",
    how: "npm run bench records-scale",
    heads: ["call", "1,000: requests/s", "1,000,000", "99th percentiles", "times slower", "at most", "failed"],
    rows,
  };
}

async function listing({ url, token, largeZone }: Opened): Promise<Table> {
  const times: number[] = [];
  let bytes = 0;
  for (let i = 0; i < 15; i += 1) {
    const started = performance.now();
    const answer = await fetch(`${url}/api/v1/records?zone_id=${largeZone}`, { headers: { "Auth-API-Token": token } });
    bytes = (await answer.arrayBuffer()).byteLength;
    times.push(performance.now() - started);
  }
  const sorted = times.toSorted((a, b) => a - b);
  const cells = [sorted[7], sorted.at(-1)].map((time) => `${(time ?? 0).toFixed(0)} ms`);
  return {
    title: "Listing a zone of 10,000 records in the store of 1,000,000",
    how: "npm run bench records-scale",
    heads: ["call", "median of 15", "slowest", "target", "bytes"],
    rows: [["GET /records?zone_id=", ...cells, "under 100 ms", String(bytes)]],
  };
}

async function besidePowerDns(moor: Opened, powerdns: PowerDns | undefined): Promise<Table> {
  const table = {
    title:
      "Against PowerDNS' API with SQLite, without its zone maintenance, synced writes: 32 clients, PowerDNS with 32 or 1, whichever is better",
    how: "npm run bench records-scale",
    heads: ["call", "moor: done/s", "PowerDNS", "times", "target", "our 99th percentile", "failed: moor", "PowerDNS"],
  };
  if (powerdns === undefined) return { ...table, rows: [["PowerDNS is not installed", "", "", "", "", "", "", ""]] };
  const rows = [];
  for (const [call, ours, theirs, target] of [
    ["read one", getOne(moor), powerdns.get, "4"],
    ["write one", putOne(moor), powerdns.put, "6, under 15 ms"],
  ] as const) {
    const loads = { ours: [] as Load[], theirs: [] as Load[] };
    for (let round = 0; round < rounds; round += 1) {
      loads.ours.push(await wrk(`${moor.url}/`, ours, seconds));
      loads.theirs.push(await bestOf(theirs));
    }
    const [we, they] = [medianLoad(loads.ours), medianLoad(loads.theirs)];
    const times = (donePerSecond(we) / donePerSecond(they)).toFixed(1);
    const done = [we, they].map((load) => String(Math.round(donePerSecond(load))));
    const failed = [loads.ours, loads.theirs].map((each) => String(each.reduce((sum, load) => sum + load.failed, 0)));
    rows.push([call, ...done, times, target, `${we.p99.toFixed(1)} ms`, ...failed]);
  }
  return { ...table, title: `${table.title} (${powerdns.version})`, rows };
}

/**
 * PowerDNS fails with two simultaneous writers on SQLite, so take the better of its results with 32 clients and with
 * one.
 */
async function bestOf(script: string): Promise<Load> {
  const url = `http://127.0.0.1:${ports.powerdns}/`;
  const [many, one] = [await wrk(url, script, seconds), await wrk(url, script, seconds, 1)];
  return donePerSecond(many) > donePerSecond(one) ? many : one;
}

const headers = ({ token }: FilledStore) => `["Auth-API-Token"]="${token}", ["Content-Type"]="application/json"`;
const samplesOf = ({ samples }: FilledStore) =>
  `local samples = {${samples.map(({ id, name, zone }) => `{"${id}","${name}","${zone}"}`).join(",")}}`;

/** In large steps through the list, so that consecutive requests are not neighbours in the store. */
export const getOne = (store: FilledStore) => `
${samplesOf(store)}
local n = 0
request = function()
  n = n + 7919
  return wrk.format("GET", "/api/v1/records/" .. samples[n % #samples + 1][1], {${headers(store)}})
end`;

/** Every request changes its record: the address counts up, in a separate range per writer. */
export const putOne = (store: FilledStore, writer = 0) => `
${samplesOf(store)}
local n = math.floor((os.time() % 10000) * 1000) + ${writer * 7_777_777}
request = function()
  n = n + 1
  local sample = samples[(n * 7919) % #samples + 1]
  local value = string.format("10.%d.%d.%d", math.floor(n / 65536) % 256, math.floor(n / 256) % 256, n % 256)
  local body = '{"value":"' .. value .. '","ttl":60,"type":"A","name":"' .. sample[2] .. '","zone_id":"' .. sample[3] .. '"}'
  return wrk.format("PUT", "/api/v1/records/" .. sample[1], {${headers(store)}}, body)
end`;

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}

const donePerSecond = (load: Load): number => load.perSecond - load.failed / seconds;
const perSecond = (load: Load): string => String(Math.round(load.perSecond));
