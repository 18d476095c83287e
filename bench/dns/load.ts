import { execFile } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort } from "../../test/rig/free-port.ts";
import { until } from "../../test/rig/until.ts";
import { usageOf } from "../process-usage.ts";
import type { Table } from "../table.ts";
import { ask, benchedZone, buildService, fillZone, fillZones, ms, partOf, startService, writeMark } from "./service.ts";

const zones = 100_000;
const writesPerSecond = 2_000;
const queriesPerSecond = 2_000;
const seconds = 8;

/** The nameserver of a large store, and one whose zone is written to while it is queried. */
export async function benchDnsLoad(): Promise<readonly Table[]> {
  buildService();
  return [await manyZones(), await underWrites()];
}

async function manyZones(): Promise<Table> {
  const folder = mkdtempSync(join(tmpdir(), "moor-bench-zones-"));
  const ports = { http: await freePort(), dns: await freePort() };
  try {
    await fillZones(folder, zones);
    const rows = [];
    for (const workers of [0, 2]) {
      const start = performance.now();
      const moor = await startService(folder, ports, "--dns-workers", `${workers}`);
      try {
        const answered = async (i: number) => (await ask(ports.dns, `www.z${i}.example`)) !== "";
        await until(() => answered(zones - 1), { limit: 20_000, what: () => moor.err(), every: 1 });
        const started = performance.now() - start;
        const { cpu } = usageOf(moor.pid);
        // All names are read in the background, and some zones are queried.
        for (let i = 0; i < 1_000; i++) await answered((i * 7_919) % zones);
        const { resident } = usageOf(moor.pid);
        const spent = `${(1_000 * cpu).toFixed(0)} ms`;
        rows.push([`${workers}`, `${started.toFixed(0)} ms`, "2 s", spent, `${resident.toFixed(0)} MB`, "250 MB"]);
      } finally {
        await moor.stop();
      }
    }
    return {
      title: `A store of ${zones.toLocaleString("en")} zones: from the start of the process to the first answer`,
      how: "npm run bench dns-load",
      heads: ["workers", "first answer", "target", "CPU until then", "memory after 1,000 zones were queried", "target"],
      rows,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function underWrites(): Promise<Table> {
  const rows = [];
  for (const workers of [0, 1]) {
    const folder = mkdtempSync(join(tmpdir(), "moor-bench-writes-"));
    const ports = { http: await freePort(), dns: await freePort() };
    const record = await fillZone(folder, "other 60 A 192.0.2.2");
    const moor = await startService(folder, ports, "--dns-workers", `${workers}`);
    try {
      const stop = new AbortController();
      const writing = writeAtPace(ports.http, record, stop.signal);
      await sleep(1_000);
      const { took, unanswered } = await askAtPace(ports.dns, `mark.${benchedZone}`, seconds);
      stop.abort();
      const done = await writing;
      const asked = ((took.length + unanswered) / seconds).toFixed(0);
      const times = [0.5, 0.99, 0.999].map((part) => ms(partOf(took, part)));
      rows.push([`${workers}`, done.toFixed(0), asked, ...times, "10 ms", `${unanswered}`]);
    } finally {
      await moor.stop();
      await rm(folder, { recursive: true, force: true });
    }
  }
  return {
    title: "Answers during writes over the API",
    how: "npm run bench dns-load",
    heads: [
      "workers",
      "writes/s",
      "queries/s",
      "median",
      "99th percentile",
      "99.9th percentile",
      "target",
      "unanswered",
    ],
    rows,
  };
}

/** The achieved writes per second, with a limited number in flight. */
async function writeAtPace(http: number, record: string, signal: AbortSignal): Promise<number> {
  const start = performance.now();
  let [sent, done] = [0, 0];
  const running = new Set<Promise<void>>();
  while (!signal.aborted) {
    const due = ((performance.now() - start) * writesPerSecond) / 1_000;
    for (; sent < due && running.size < 64; sent++) {
      const write = writeMark(http, record, `10.${(sent >> 16) & 255}.${(sent >> 8) & 255}.${sent & 255}`).then(() => {
        done += 1;
        running.delete(write);
      });
      running.add(write);
    }
    await sleep(1);
  }
  const perSecond = (done / (performance.now() - start)) * 1_000;
  await Promise.all(running);
  return perSecond;
}

type Paced = { readonly took: readonly number[]; readonly unanswered: number };

/** 2,000 queries per second, from another process. */
export async function askAtPace(dns: number, name: string, time: number): Promise<Paced> {
  const words = [dns, name, queriesPerSecond, time].map(String);
  const program = join(import.meta.dirname, "pace.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...words], { maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(stdout) as Paced;
}
