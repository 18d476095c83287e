import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createToken, hashSecret } from "../src/access/secret.ts";
import { wholeAccount } from "../src/core/may.ts";
import { ensureCertificate } from "../src/process/certificates.ts";
import { createRecordService } from "../src/records/service.ts";
import { recordsDatabase } from "../src/records/start.ts";
import { openSqliteStore } from "../src/records/store-sqlite.ts";
import type { Table } from "./run.ts";
import { type Load, wrk } from "./wrk.ts";

const seconds = 5;
const rounds = 3;

/** Ratios to a bare Node server on the same transport, measured in turns so that a noisy machine is noisy for both. */
export async function benchRecords(): Promise<readonly Table[]> {
  const folder = await mkdtemp(join(tmpdir(), "moor-bench-"));
  await ensureCertificate(folder, [], new Date());
  const fixture = await fill(folder);
  const rows = [];
  for (const transport of ["http", "https"] as const) rows.push(...(await measure(folder, transport, fixture)));
  return [
    {
      title: "One record, 32 connections",
      how: "npm run bench records",
      heads: ["transport", "call", "requests/s", "99th percentile", "ratio to bare Node", "target", "failed"],
      rows,
    },
  ];
}

type Fixture = { readonly token: string; readonly zone: string; readonly records: readonly string[] };

async function fill(folder: string): Promise<Fixture> {
  const store = openSqliteStore(recordsDatabase(folder));
  const account = await store.ensureAccount("bench", Date.now());
  const token = createToken();
  await store.addToken({
    account: account.id,
    name: "bench",
    hash: hashSecret(token),
    scope: wholeAccount,
    created: 0,
  });
  const service = createRecordService({ store, now: Date.now, nameservers: ["ns1.example.net"] });
  const actor = { account: account.id, label: "bench", scope: wholeAccount };
  const made = await service.createZone(actor, { name: "bench.example", ttl: 60 });
  if (made.kind !== "done") throw new Error("no zone");
  const create = async (i: number) => {
    const draft = { type: "A", name: `h${i}`, value: "192.0.2.1", text: "192.0.2.1", ttl: 60 } as const;
    const record = await service.createRecord(actor, made.zone.id, draft);
    if (record.kind !== "done") throw new Error("no record");
    return record.placed.record.id;
  };
  const records = await Promise.all(Array.from({ length: 1000 }, (_, i) => create(i)));
  store.close();
  return { token, zone: made.zone.id, records };
}

async function measure(folder: string, transport: "http" | "https", fixture: Fixture): Promise<string[][]> {
  const plain = transport === "http";
  const hello = await start(["bench/hello.ts", "18990", ...(plain ? [] : [folder])]);
  const listen = ["--listen", "127.0.0.1:18991", "--data", folder, ...(plain ? ["--plain-http"] : [])];
  const moor = await start(["bin/moor.ts", "records", ...listen]);
  try {
    const results = { hello: [] as Load[], get: [] as Load[], put: [] as Load[] };
    for (let round = 0; round < rounds; round += 1) {
      results.hello.push(await wrk(`${transport}://127.0.0.1:18990/`, "", seconds));
      results.get.push(await wrk(`${transport}://127.0.0.1:18991/`, getOne(fixture), seconds));
      results.put.push(await wrk(`${transport}://127.0.0.1:18991/`, putOne(fixture), seconds));
    }
    const base = median(results.hello);
    const row = (call: string, loads: readonly Load[], target: string) => {
      const { perSecond, p99 } = median(loads);
      const failed = loads.reduce((sum, load) => sum + load.failed, 0);
      const ratio = `${Math.round((100 * perSecond) / base.perSecond)} %`;
      return [transport, call, String(Math.round(perSecond)), `${p99.toFixed(1)} ms`, ratio, target, String(failed)];
    };
    return [
      row("bare Node, hello", results.hello, ""),
      row("GET one record", results.get, "50 %"),
      row("PUT one record, synced", results.put, "35 %, under 15 ms"),
    ];
  } finally {
    await Promise.all([stop(hello), stop(moor)]);
  }
}

const headers = ({ token }: Fixture) => `["Auth-API-Token"]="${token}", ["Content-Type"]="application/json"`;
const recordList = ({ records }: Fixture) => `local records = {${records.map((id) => `"${id}"`).join(",")}}`;

const getOne = (fixture: Fixture) => `
${recordList(fixture)}
local n = 0
request = function()
  n = n + 1
  return wrk.format("GET", "/api/v1/records/" .. records[n % #records + 1], {${headers(fixture)}})
end`;

/** Every request changes its record: the address counts up. */
const putOne = (fixture: Fixture) => `
${recordList(fixture)}
local n = math.floor((os.time() % 10000) * 1000)
request = function()
  n = n + 1
  local i = n % #records
  local value = string.format("10.%d.%d.%d", math.floor(n / 65536) % 256, math.floor(n / 256) % 256, n % 256)
  local body = '{"value":"' .. value .. '","ttl":60,"type":"A","name":"h' .. i .. '","zone_id":"${fixture.zone}"}'
  return wrk.format("PUT", "/api/v1/records/" .. records[i + 1], {${headers(fixture)}}, body)
end`;

async function start(args: readonly string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return child;
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}

function median(loads: readonly Load[]): Load {
  const sorted = loads.toSorted((a, b) => a.perSecond - b.perSecond);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error("nothing was measured");
  return middle;
}
