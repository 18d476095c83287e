import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { recordsDatabase } from "../../src/records/open-store.ts";
import { openSqliteStore } from "../../src/records/store/sqlite/store.ts";
import { readSqliteTables } from "../../src/records/tools/tables/sqlite.ts";
import { storeTables } from "../../src/records/tools/tables/table.ts";
import { startMoorDns } from "../nameserver/moor-dns.ts";
import { node } from "../rig/namespace.ts";
import { testLimit } from "../rig/patience.ts";
import { realPause } from "../rig/real-pause.ts";
import { startProcess } from "../rig/started-process.ts";
import { until } from "../rig/until.ts";
import { faultsIn } from "./store-files.ts";

/** `npm run test:faults` sets more. */
const kills = Math.max(3, Number(process.env.MOOR_KILLS ?? 0));
vi.setConfig({ testTimeout: testLimit + kills * 10_000 });

const folder = mkdtempSync(join(tmpdir(), "moor-kill-whole-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const name = "large.example";
const database = recordsDatabase(folder);
const program = join(import.meta.dirname, "whole-zone-process.ts");

beforeAll(async () => {
  const hosts = Array.from({ length: 1_200 }, (_, i) => `h${i} - A 192.0.2.1`);
  const moor = await startMoorDns({}, database);
  await moor.makeZone(name, `@ - NS ns1\nns1 - A 192.0.2.1\n${hosts.join("\n")}`);
  await moor.close();
});

it(`a large zone is whole after ${kills} kill -9 while it is signed and unsigned, and what is left over is deleted`, async () => {
  for (let round = 0; round < kills; round += 1) {
    const working = startProcess([node, program, database, folder, name], {});
    try {
      const lines = () => working.out().trim().split("\n").length;
      await until(() => lines() > round % 3, { every: 1, what: () => `${working.out()}${working.err()}` });
      await realPause(Math.random() * 400, "the kill comes at a random moment");
    } finally {
      await working.stop("SIGKILL");
    }
    expect(await faultsIn(database)).toEqual([]);
    const store = openSqliteStore(database);
    const later = Date.now() + 3_600_000;
    while (await store.removeLeftovers(later));
    store.close();
    expect(await faultsIn(database)).toEqual([]);
    const tables = readSqliteTables(database);
    expect(await tables.count(storeTables.leftovers)).toBe(0);
    await tables.close();
  }
});
