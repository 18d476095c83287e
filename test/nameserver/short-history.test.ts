import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Zone } from "../../src/records/model.ts";
import { dropHistory } from "../../src/records/tools/keep-history.ts";
import { trimSqliteTables } from "../../src/records/tools/tables/sqlite.ts";
import { patience } from "../rig/patience.ts";
import { realPause } from "../rig/real-pause.ts";
import { everyone, type MoorDns, startMoorDns } from "./moor-dns.ts";

/** A change log whose old changes were dropped. */
const folder = mkdtempSync(join(tmpdir(), "moor-short-history-"));
const file = join(folder, "records.sqlite");
let moor: MoorDns;
let zone: Zone;

beforeAll(async () => {
  moor = await startMoorDns({ networks: everyone }, file);
  const many = Array.from({ length: 40 }, (_, i) => `h${i} 60 A 192.0.2.${i}`).join("\n");
  zone = await moor.makeZone("example.org", `@ 600 NS ns1\n${many}`);
  for (let i = 1; i <= 6; i++) {
    await moor.write(zone, `@ 600 NS ns1\n${many}\nmark 60 A 198.51.100.${i}`);
    await realPause(5, "history is dropped by time");
  }
});
afterAll(async () => {
  await moor?.close();
  await rm(folder, { recursive: true, force: true });
});

async function transferSince(serial: number): Promise<{ readonly soas: number; readonly hosts: number; text: string }> {
  const text = await moor.dig("+noall", "+answer", "example.org", `IXFR=${serial}`);
  return { soas: text.match(/\sSOA\s/g)?.length ?? 0, hosts: text.match(/^h\d+\.example/gm)?.length ?? 0, text };
}

it("a client that is not too far behind gets the changes, any other the whole zone", async () => {
  const { serial } = (await moor.store.zoneHolding("example.org")) ?? { serial: 0 };
  expect(await transferSince(serial - 5)).toMatchObject({ soas: 4, hosts: 0 });
  const rows = await moor.store.historyOf(zone, { limit: 100 });
  const before = rows.find((row) => row.serial === serial - 2)?.at ?? 0;
  const tables = trimSqliteTables(file);
  const dropped = await dropHistory(tables, { before, rest: 0, signal: AbortSignal.timeout(patience) });
  await tables.close();
  expect(dropped).toBeGreaterThan(3);

  const whole = await transferSince(serial - 5);
  expect(whole).toMatchObject({ soas: 2, hosts: 40 });
  expect(whole.text).toContain("198.51.100.6");
  // The row of the serial before the first remaining change is gone, so we cannot know that the change is complete.
  expect(await transferSince(serial - 3)).toMatchObject({ soas: 2, hosts: 40 });
  expect(await transferSince(serial - 2)).toMatchObject({ soas: 4, hosts: 0 });
  expect(await transferSince(serial)).toMatchObject({ soas: 1, hosts: 0 });
});

it("later writes are sent as changes from there on", async () => {
  const { serial } = (await moor.store.zoneHolding("example.org")) ?? { serial: 0 };
  await moor.write(zone, "@ 600 NS ns1\nmark 60 A 198.51.100.7");
  const { text } = await transferSince(serial);
  expect(text).toContain("198.51.100.7");
  expect(await moor.dig("+short", "mark.example.org", "A")).toBe("198.51.100.7");
});
