import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync } from "node:fs";
import { cp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort } from "../../test/rig/free-port.ts";
import { buildService, partOf, startService } from "../dns/service.ts";
import { usageOf } from "../process-usage.ts";
import type { Table } from "../table.ts";
import type { Neighbour } from "./frames-and-zones.ts";
import { grownZones, neighboursOf, type Ports, wholeZones } from "./hostile.ts";
import { fillStreet, type Street } from "./store.ts";
import { benchWorstZone } from "./worst-zone.ts";

/** Seconds: long enough for a large write and the pause after it. */
const secondsOf = (name: string): number => {
  const isWhole = wholeZones.some((each) => each === name);
  return isWhole ? 30 : name === grownZones ? 20 : 4;
};

/** As the only name: no neighbours, only the search for the zone whose queries cost most. */
const worstZone = "worst zone";

/**
 * How long one account's DNS answers and API calls take while another account, or a stranger, does its worst. `only`:
 * parts of the names of the neighbours to run; all if empty.
 */
export async function benchNeighbours(only: readonly string[]): Promise<readonly Table[]> {
  if (only.includes(worstZone)) return [await benchWorstZone()];
  buildService();
  const folder = mkdtempSync(join(tmpdir(), "moor-bench-neighbours-"));
  try {
    const filled = join(folder, "filled");
    mkdirSync(filled);
    const street = await fillStreet(filled);
    const tables: Table[] = [];
    for (const workers of [0, 1]) {
      // Both tables start with the same zones: a row may leave large ones behind.
      const copy = join(folder, `${workers}`);
      await cp(filled, copy, { recursive: true });
      tables.push(await tableOf(copy, street, workers, only));
      await rm(copy, { recursive: true });
    }
    return only.length > 0 ? tables : [...tables, await benchWorstZone()];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function tableOf(folder: string, street: Street, workers: number, only: readonly string[]): Promise<Table> {
  const ports = { http: await freePort(), dns: await freePort() };
  const rows = [];
  for (const [name, neighbour] of Object.entries(neighboursOf(street, ports))) {
    if (only.length > 0 && !only.some((part) => name.includes(part))) continue;
    // A new process for each, so that the memory left by one does not affect the next.
    const moor = await startService(folder, ports, "--transfer-to", "127.0.0.1", "--dns-workers", `${workers}`);
    try {
      const { answered, dns, api, failed, unanswered } = await beside(neighbour, secondsOf(name), street, ports);
      const memory = `${usageOf(moor.pid).peak.toFixed(0)} MB`;
      rows.push([name, ...times(dns), ...times(api), `${failed}`, `${unanswered}`, memory, answered]);
      console.error(rows.at(-1)?.join(" | "));
    } finally {
      await moor.stop();
    }
  }
  return {
    title:
      `Other accounts' DNS answers and API calls beside each neighbour, 4 seconds long (20 for ${grownZones}, 30 for 100,000 signed names), --dns-workers ${workers}; ` +
      "targets: 99th percentiles within 20 ms and 250 ms, the slowest API answer within 250 ms",
    how: "npm run bench neighbours",
    heads: [
      ...["neighbour", "DNS: median", "99th percentile", "slowest", "API: median", "99th percentile", "slowest"],
      ...["failed", "unanswered", "peak memory", "answers to the neighbour"],
    ],
    rows,
  };
}

type Measured = {
  readonly dns: readonly number[];
  readonly api: readonly number[];
  readonly failed: number;
  readonly unanswered: number;
};

async function beside(neighbour: Neighbour, seconds: number, { victim }: Street, { dns, http }: Ports) {
  const stop = new AbortController();
  const words = [dns, http, victim.token, victim.record, victim.zone].map(String);
  const victimFor = (time: number) =>
    promisify(execFile)(process.execPath, [join(import.meta.dirname, "victim.ts"), ...words, `${time}`], {
      maxBuffer: 64 * 1024 * 1024,
    });
  // Warm up first: compilation and first reads are not caused by the neighbour.
  await victimFor(1);
  const headers = { "auth-api-token": victim.token };
  for (const path of ["zones?per_page=1&search=x", "zones/victim.example/history"])
    await (await fetch(`http://127.0.0.1:${http}/v1/${path}`, { headers })).arrayBuffer();
  const asking = victimFor(seconds);
  await sleep(300);
  const being = neighbour(stop.signal);
  const { stdout } = await asking;
  stop.abort();
  const counts = await being;
  const answered = Object.entries(counts).map(([what, count]) => `${count} × ${what}`);
  return { ...(JSON.parse(stdout) as Measured), answered: answered.join(", ") };
}

const times = (all: readonly number[]): readonly string[] =>
  [partOf(all, 0.5), partOf(all, 0.99), Math.max(...all)].map((time) => `${time.toFixed(time < 10 ? 1 : 0)} ms`);
