import { type ChildProcess, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import { createToken, hashSecret } from "../src/access/secret.ts";
import { wholeAccount } from "../src/core/may.ts";
import { nameToWire } from "../src/core/names/wire.ts";
import { transferIn } from "../src/nameserver/transfer/in.ts";
import { createSharedMemory } from "../src/nameserver/transfer/memory.ts";
import { recordsDatabase } from "../src/records/open-store.ts";
import { createRecordService } from "../src/records/service.ts";
import { openSqliteStore } from "../src/records/store/sqlite/store.ts";
import type { Measured } from "../test/scale/arithmetic.ts";

export type Scale = { readonly zones: number; readonly writes: number };

/**
 * The cost of a name, measured on a real store and a real service: the size of the database file, and CPU time from the
 * metrics.
 */
export async function measure({ zones, writes }: Scale, say: (text: string) => void): Promise<Measured> {
  const folder = await mkdtemp(join(tmpdir(), "moor-simulate-"));
  try {
    await fill(folder, 0);
    const emptyBytes = await bytesIn(folder);
    say(`making ${zones} zones, each with SOA, A and AAAA`);
    const filled = await fill(folder, zones);
    const filledBytes = await bytesIn(folder);
    const http = await withService(folder, async (service) => {
      say(`writing ${writes} addresses through the v1 API, 32 at a time, and reading them`);
      const secondsPerWrite = await costOf(service, writes, () => callAll(service, filled, writes, "PUT"));
      const secondsPerRead = await costOf(service, writes, () => callAll(service, filled, writes, "GET"));
      return { secondsPerWrite, secondsPerRead };
    });
    const changedBytes = await bytesIn(folder);
    // Restarted, so that the memory for the zones does not reuse memory that something else has freed.
    const dns = await withService(folder, (service) => measureDns(service, zones, say));
    return {
      bytesPerZone: (filledBytes - emptyBytes) / zones,
      bytesPerChange: (changedBytes - filledBytes) / writes,
      ...http,
      ...dns,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureDns(service: Service, zones: number, say: (text: string) => void) {
  const { memory: memoryAtStart } = await service.read();
  say(`asking for each of the ${zones} names, then for all of them again three times`);
  const secondsPerColdQuestion = await costOf(service, zones, () => askAll(service.dns, zones, 1));
  const memoryPerZone = ((await service.read()).memory - memoryAtStart) / zones;
  const secondsPerQuestion = await costOf(service, zones * 3, () => askAll(service.dns, zones, 3));
  const transfers = Math.min(zones, 2_000);
  say(`transferring ${transfers} zones to a secondary`);
  const secondsPerTransfer = await costOf(service, transfers, () => transferAll(service.dns, transfers));
  return { memoryAtStart, memoryPerZone, secondsPerColdQuestion, secondsPerQuestion, secondsPerTransfer };
}

async function withService<T>(folder: string, work: (service: Service) => Promise<T>): Promise<T> {
  const service = await startService(folder);
  try {
    return await work(service);
  } finally {
    await service.stop();
  }
}

const zoneName = (i: number): string => `customer-${i}.dyn.example`;

type Filled = { readonly token: string; readonly records: readonly { readonly id: string; readonly zone: string }[] };

async function fill(folder: string, zones: number): Promise<Filled> {
  const store = openSqliteStore(recordsDatabase(folder));
  const account = await store.ensureAccount("main", Date.now());
  const token = createToken();
  const scope = wholeAccount;
  await store.addToken({
    account: account.id,
    name: "simulation",
    hash: hashSecret(token),
    scope,
    created: Date.now(),
  });
  const service = createRecordService({ store, now: Date.now, nameservers: ["ns1.example.net", "ns2.example.net"] });
  const actor = { account: account.id, label: "simulation", scope };
  const make = async (i: number) => {
    const made = await service.createZone(actor, { name: zoneName(i), ttl: 60 });
    if (made.kind !== "done") throw new Error(`${zoneName(i)}: ${JSON.stringify(made)}`);
    const { id: zone } = made.zone;
    const draft = (type: "A" | "AAAA", value: string) => ({ type, name: "@", value, text: value, ttl: 60 });
    const a = await service.createRecord(actor, zone, draft("A", "192.0.2.1"));
    await service.createRecord(actor, zone, draft("AAAA", "2001:db8::1"));
    if (a.kind !== "done") throw new Error("no record");
    return { id: a.recordInZone.record.id, zone };
  };
  const records: { readonly id: string; readonly zone: string }[] = [];
  for (let i = 0; i < zones; i += 500) {
    const part = Array.from({ length: Math.min(500, zones - i) }, (_, j) => make(i + j));
    records.push(...(await Promise.all(part)));
  }
  store.close();
  return { token, records };
}

async function bytesIn(folder: string): Promise<number> {
  const files = (await readdir(folder)).filter((file) => file.startsWith("records.sqlite"));
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

type Service = {
  readonly url: string;
  readonly dns: number;
  readonly read: () => Promise<{ readonly cpu: number; readonly memory: number }>;
  readonly stop: () => Promise<void>;
};

async function startService(folder: string): Promise<Service> {
  const at = "127.0.0.1:0";
  const words = ["--data", folder, "--listen", at, "--dns", at, "--metrics", at, "--transfer-to", "127.0.0.1"];
  const more = ["--plain-http", "--rate-limit", "off"];
  const child = spawn(process.execPath, [join(import.meta.dirname, "../bin/moor.ts"), "records", ...words, ...more], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const said = await untilSays(child, /To create a token/);
  const [, url = ""] = /listens on (\S+)/.exec(said) ?? [];
  const [, dns = ""] = /The nameserver listens on \S+ port (\d+)/.exec(said) ?? [];
  const [, metrics = ""] = /health are at (\S+)\/metrics/.exec(said) ?? [];
  return {
    url,
    dns: Number(dns),
    read: async () => {
      const text = await (await fetch(`${metrics}/metrics`)).text();
      const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
      const cpu = value("process_cpu_user_seconds_total") + value("process_cpu_system_seconds_total");
      return { cpu, memory: value("process_resident_memory_bytes") };
    },
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

async function untilSays(child: ChildProcess, pattern: RegExp): Promise<string> {
  let said = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  for (let left = 200; left > 0 && child.exitCode === null; left -= 1) {
    if (pattern.test(said)) return said;
    await sleep(50);
  }
  throw new Error(`the service did not start: ${said}`);
}

/** CPU seconds of the service, per item. */
async function costOf(service: Service, count: number, work: () => Promise<void>): Promise<number> {
  const before = (await service.read()).cpu;
  await work();
  return ((await service.read()).cpu - before) / count;
}

const atOnce = 32;

async function callAll(service: Service, filled: Filled, count: number, method: "PUT" | "GET"): Promise<void> {
  const pool = new Pool(service.url, { connections: atOnce });
  let next = 0;
  const call = async () => {
    for (let i = next++; i < count; i = next++) {
      const record = filled.records[i % filled.records.length];
      if (record === undefined) throw new Error("no zone to write to");
      const value = `198.51.${(i >> 8) & 255}.${i & 255}`;
      const body = { zone_id: record.zone, type: "A", name: "@", value, ttl: 60 };
      const { statusCode, body: answer } = await pool.request({
        ...{ method, path: `/api/v1/records/${record.id}`, headers: { "auth-api-token": filled.token } },
        ...(method === "PUT" && { body: JSON.stringify(body) }),
      });
      await answer.dump();
      if (statusCode !== 200) throw new Error(`${method} was answered ${statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, call));
  await pool.close();
}

/** Queries each name `times` times, 64 queries in parallel; lost ones are repeated. */
async function askAll(port: number, zones: number, times: number): Promise<void> {
  const socket = createSocket("udp4");
  await new Promise<void>((resolve) => socket.connect(port, "127.0.0.1", resolve));
  const waiting = new Map<number, () => void>();
  socket.on("message", (reply) => waiting.get(reply.readUInt16BE(0))?.());
  let next = 0;
  const ask = async (lane: number) => {
    for (let i = next++; i < zones * times; i = next++) {
      const question = questionFor(zoneName(i % zones), lane);
      for (let tries = 0; tries < 20; tries += 1) {
        const answered = new Promise<boolean>((resolve) => waiting.set(lane, () => resolve(true)));
        socket.send(question);
        if (await Promise.race([answered, sleep(1_000, false)])) break;
      }
    }
  };
  await Promise.all(Array.from({ length: 64 }, (_, lane) => ask(lane)));
  socket.close();
}

function questionFor(name: string, id: number): Buffer {
  const [question, tail] = [nameToWire(name), Buffer.of(0, 1, 0, 1)];
  const head = Buffer.of(id >> 8, id & 255, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0);
  return Buffer.concat([head, question, tail]);
}

async function transferAll(port: number, count: number): Promise<void> {
  const peer = { host: "127.0.0.1", port, key: undefined };
  const signal = AbortSignal.timeout(300_000);
  const memory = createSharedMemory(Number.POSITIVE_INFINITY).open(1, () => undefined);
  const limits = { limit: 20_000, mostRecords: 1_000, mostBytes: 1_000_000 };
  let next = 0;
  const fetchOne = async () => {
    for (let i = next++; i < count; i = next++) {
      await transferIn(zoneName(i), peer, undefined, { signal, now: Date.now, ...limits, memory });
    }
  };
  await Promise.all(Array.from({ length: 8 }, fetchOne));
}
