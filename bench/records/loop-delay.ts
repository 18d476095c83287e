/**
 * How long the event loop is blocked while 32 writers change records all over a large SQLite store: `node
 * bench/records/loop-delay.ts`. To compare two checkouts, run it in both in turns.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { RRset, ZoneRecord } from "../../src/core/records/rrset.ts";
import { noLog } from "../../src/process/log.ts";
import { openStore, recordsDatabase } from "../../src/records/open-store.ts";
import { writeTo } from "../../test/rig/store/write.ts";
import { fillStore } from "./store.ts";

const [zoneCount, perZone, seconds, writers] = [3_000, 100, 12, 32];

const folder = await mkdtemp(join(tmpdir(), "moor-loop-"));
try {
  await fillStore(folder, zoneCount);
  const place = { kind: "sqlite", path: recordsDatabase(folder) } as const;
  const { store, close } = await openStore(place, noLog);
  const { id: account } = await store.ensureAccount("bench", 0);
  const zones = (await store.zones(account, { page: 1, perPage: zoneCount })).items;
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const end = performance.now() + seconds * 1_000;
  let written = 0;
  const change = (set: RRset): RRset => {
    const value = `10.0.${written % 250}.${Math.floor(Math.random() * 250)}`;
    return { ...set, records: set.records.map((record): ZoneRecord => ({ ...record, value, rdata: value })) };
  };
  const writer = async () => {
    while (performance.now() < end) {
      const at = { zone: zones[Math.floor(Math.random() * zones.length)]?.id ?? "" };
      const owner = `h${Math.floor(Math.random() * (perZone - 1))}`;
      const request = { account, at, owners: () => [owner], actor: "bench", now: Date.now() };
      await writeTo(store, request, ({ sets }) => ({ wanted: sets.map(change), result: true }));
      written += 1;
    }
  };
  await Promise.all(Array.from({ length: writers }, writer));
  delay.disable();
  const ms = (nanoseconds: number): string => (nanoseconds / 1e6).toFixed(1);
  const [most, p99, p999] = [delay.max, delay.percentile(99), delay.percentile(99.9)].map(ms);
  process.stdout.write(`${written} writes; the loop stood for ${p99} ms (p99), ${p999} (p99.9), ${most} at most\n`);
  await close();
} finally {
  await rm(folder, { recursive: true, force: true });
}
