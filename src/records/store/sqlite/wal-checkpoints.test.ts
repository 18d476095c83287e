import { mkdirSync, mkdtempSync, rmdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makePool } from "../../../../test/rig/records/pool-of-addresses.ts";
import { writeTo } from "../../../../test/rig/store/write.ts";
import { until } from "../../../../test/rig/until.ts";
import { createLog } from "../../../process/log.ts";
import { openStore } from "../../open-store.ts";
import { openSqliteStore } from "./store.ts";
import { startWalCheckpoints } from "./wal-checkpoints.ts";

it("checkpoints many changes while they happen, and does not delay closing", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "moor-checkpoint-")), "records.sqlite");
  const lines: string[] = [];
  const log = createLog({ format: "text", write: (line) => void lines.push(line) });
  const { store, close } = await openStore({ kind: "sqlite", path }, log);
  const { request } = await makePool(store);
  const before = statSync(path).size;
  const change = (value: string) => {
    const record = { id: "r", name: "pool", value, rdata: value, comment: "", created: 1, modified: 1 };
    const wanted = [{ owner: "pool", type: "TXT" as const, ttl: null, records: [record] }];
    return writeTo(store, request, () => ({ wanted, result: value }));
  };
  let made = 0;
  const storm = async () => {
    // Fewer than SQLite's own automatic checkpoint needs.
    const more = made < 5_000 ? 600 : 0;
    await Promise.all(Array.from({ length: more }, (_, i) => change(`"${made + i}"`)));
    made += more;
    return statSync(path).size > before;
  };
  await until(storm, { what: () => `still ${before} bytes after ${made} changes` });
  await close();
  expect(lines).toEqual([]);
});

it("tries again after a minute if its thread could not open the file, and logs that once", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "moor-checkpoint-")), "records.sqlite");
  const lines: string[] = [];
  const log = createLog({ format: "text", write: (line) => void lines.push(line) });
  let now = 0;
  const checkpoints = startWalCheckpoints(path, log, { now: () => now });
  const later = (milliseconds: number) => {
    now += milliseconds;
    checkpoints.wrote(500);
  };
  // Opening a folder fails, as it does with too many open files.
  mkdirSync(path);
  later(1);
  await expect.poll(() => lines.length).toBe(1);
  rmdirSync(path);
  const store = openSqliteStore(path);
  await makePool(store);
  const before = statSync(path).size;
  later(59_000);
  later(2_000);
  await expect.poll(() => statSync(path).size).toBeGreaterThan(before);
  await checkpoints.close();
  store.close();
  expect(lines).toHaveLength(1);
});

it("fails no write if no thread can be started, and logs that once", () => {
  const lines: string[] = [];
  const log = createLog({ format: "text", write: (line) => void lines.push(line) });
  let now = 0;
  const none = () => {
    throw new Error("EAGAIN");
  };
  const checkpoints = startWalCheckpoints("none.sqlite", log, { now: () => now, begin: none });
  for (now of [1, 2, 70_000]) checkpoints.wrote(500);
  expect(lines).toHaveLength(1);
});
