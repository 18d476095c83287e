import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createToken, hashSecret } from "../../src/access/secret.ts";
import { wholeAccount } from "../../src/core/may.ts";
import { ensureCertificate } from "../../src/lib/tls/certificates.ts";
import { recordsDatabase } from "../../src/records/open-store.ts";
import { createRecordService } from "../../src/records/service.ts";
import { openSqliteStore } from "../../src/records/store/sqlite/store.ts";
import { type EventReader, readEvents } from "../../test/rig/records/event-reader.ts";
import type { Table } from "../table.ts";
import { besideHelloHeads, type Call, measureBesideHello, moorPort, startMoor, stop } from "./beside-hello.ts";

const sets = 1_000;
const polls = 500;
const subscribers = 100;
const changes = 100;

export async function benchRrsets(): Promise<readonly Table[]> {
  const folder = await mkdtemp(join(tmpdir(), "moor-bench-"));
  await ensureCertificate(folder, [], new Date());
  const token = await fill(folder);
  const loads = [];
  for (const transport of ["http", "https"] as const)
    loads.push(...(await measureBesideHello(folder, transport, callsOf(token))));
  return [
    {
      title: "One record set, 32 connections",
      how: "npm run bench rrsets",
      heads: besideHelloHeads,
      rows: loads,
    },
    {
      title: "Until a write is visible",
      how: "npm run bench rrsets",
      heads: ["what", "measured", "target"],
      rows: await measureWaiting(folder, token),
    },
  ];
}

async function fill(folder: string): Promise<string> {
  const store = openSqliteStore(recordsDatabase(folder));
  const account = await store.ensureAccount("bench", Date.now());
  const token = createToken(64);
  const hash = hashSecret(token);
  await store.addToken({ account: account.id, name: "bench", hash, scope: wholeAccount, created: 0 });
  const service = createRecordService({ store, now: Date.now, nameservers: ["ns1.example.net"] });
  const actor = { account: account.id, label: "bench", scope: wholeAccount };
  const content = Array.from({ length: sets }, (_, i) => ({
    name: `h${i}`,
    type: "A",
    records: [{ value: "192.0.2.1", comment: "" }],
  }));
  const made = await service.createZone(actor, {
    name: "bench.example",
    mode: "primary",
    ttl: 60,
    labels: {},
    primaries: [],
    locked: false,
    content: { kind: "sets", sets: content },
  });
  if (made.kind !== "done") throw new Error("no zone");
  store.close();
  return token;
}

const callsOf = (token: string): readonly Call[] => [
  { name: "GET one set", script: getSet(token), target: "" },
  { name: "set_records, synced", script: setRecords(token), target: "25 %" },
];

const headers = (token: string) => `["Authorization"]="Bearer ${token}", ["Content-Type"]="application/json"`;

const getSet = (token: string) => `
local n = 0
request = function()
  n = n + 1
  return wrk.format("GET", "/v1/zones/bench.example/rrsets/h" .. n % ${sets} .. "/A", {${headers(token)}})
end`;

/** Every request changes its set: the address counts up. */
const setRecords = (token: string) => `
local n = math.floor((os.time() % 10000) * 1000)
request = function()
  n = n + 1
  local value = string.format("10.%d.%d.%d", math.floor(n / 65536) % 256, math.floor(n / 256) % 256, n % 256)
  local body = '{"records":[{"value":"' .. value .. '","comment":"2026-01-13 14:17:29 (UTC)"}]}'
  local path = "/v1/zones/bench.example/rrsets/h" .. n % ${sets} .. "/A/actions/set_records"
  return wrk.format("POST", path, {${headers(token)}}, body)
end`;

async function measureWaiting(folder: string, token: string): Promise<string[][]> {
  const moor = await startMoor(folder, "http");
  const readers: EventReader[] = [];
  try {
    const finished = await firstPolls(token);
    const authorization = `Bearer ${token}`;
    while (readers.length < subscribers) readers.push(await readEvents(`${base}/events`, { authorization }));
    await Promise.all(readers.map((reader) => reader.until((each) => each.lastId() !== undefined)));
    const delays: number[] = [];
    for (let i = 0; i < changes; i += 1) delays.push(await delayToAll(readers, token, i));
    const sorted = delays.toSorted((a, b) => a - b);
    const at = (part: number) => `${(sorted[Math.ceil(part * sorted.length) - 1] ?? 0).toFixed(1)} ms`;
    const title = `from the request for a change until the last of ${subscribers} subscribers has it`;
    return [
      [`actions finished at the first poll, of ${polls}`, `${(100 * finished) / polls} %`, "95 %"],
      [`${title}, median of ${changes}`, at(0.5), "50 ms"],
      [`${title}, 99th percentile`, at(0.99), "50 ms"],
    ];
  } finally {
    for (const reader of readers) reader.close();
    await stop(moor);
  }
}

const base = `http://127.0.0.1:${moorPort}/v1`;

/** How many actions are `success` when they are first read by their id. */
async function firstPolls(token: string): Promise<number> {
  let finished = 0;
  for (let i = 0; i < polls; i += 1) {
    const { action } = await write(token, `h${i}`, `198.51.100.${i % 256}`);
    const answer = await fetch(`${base}/actions/${action.id}`, { headers: { authorization: `Bearer ${token}` } });
    const polled = (await answer.json()) as { action: { status: string } };
    if (polled.action.status === "success") finished += 1;
  }
  return finished;
}

async function delayToAll(readers: readonly EventReader[], token: string, i: number): Promise<number> {
  const before = readers.map((reader) => reader.events.length);
  const began = performance.now();
  const arrived = readers.map((reader, j) => reader.until(({ events }) => events.length > (before[j] ?? 0)));
  await Promise.all([write(token, "watched", `203.0.113.${i % 256}`), ...arrived]);
  return Math.max(...readers.map((reader) => reader.events.at(-1)?.at ?? 0)) - began;
}

async function write(token: string, name: string, value: string): Promise<{ action: { id: number } }> {
  const answer = await fetch(`${base}/zones/bench.example/rrsets/${name}/A/records`, {
    method: "PUT",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ records: [{ value }] }),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()) as { action: { id: number } };
}
