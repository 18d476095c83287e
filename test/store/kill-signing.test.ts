import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Stage } from "../../src/core/dnssec/lifecycle.ts";
import { recordsDatabase } from "../../src/records/open-store.ts";
import { everyone, run, startMoorDns } from "../nameserver/moor-dns.ts";
import { rowsOf } from "../rig/long-run.ts";
import { node } from "../rig/namespace.ts";
import { testLimit } from "../rig/patience.ts";
import { realPause } from "../rig/real-pause.ts";
import { startProcess } from "../rig/started-process.ts";
import { until } from "../rig/until.ts";
import { faultsIn } from "./store-files.ts";

/** Each stage with the next one: the kill can come after the write that ends the stage. */
const stages: readonly (readonly [Stage | "unsigned", Stage | "unsigned"])[] = [
  ["unsigned", "new"],
  ["new", "new-parent"],
  ["new-parent", "secure"],
  ["secure", "leaving"],
  ["roll-show", "roll-parent"],
  ["roll-parent", "roll-sign"],
  ["roll-sign", "secure"],
  ["algorithm-sign", "algorithm-show"],
  ["algorithm-show", "algorithm-parent"],
  ["algorithm-parent", "algorithm-hide"],
  ["algorithm-hide", "secure"],
  ["leaving", "unsigned"],
];
/** The number of kills in each stage; `npm run test:faults` sets more. */
const kills = Math.ceil(Number(process.env.MOOR_KILLS ?? 1) / stages.length);
vi.setConfig({ testTimeout: testLimit + kills * 10_000 });

const folder = mkdtempSync(join(tmpdir(), "moor-kill-signing-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const name = "stages.example";
const database = recordsDatabase(folder);

const program = join(import.meta.dirname, "signing-process.ts");

/** The stage of the zone, and what BIND's check says about it; undefined if nothing of it is signed. */
async function verified(): Promise<{ readonly is: string; readonly said: string | undefined }> {
  const moor = await startMoorDns({ networks: everyone }, database);
  try {
    const text = await moor.dig("+noall", "+answer", "+onesoa", name, "AXFR");
    expect(text).toContain("h199.stages.example.");
    const is = (await moor.store.zoneHolding(name))?.settings.dnssec?.stage ?? "unsigned";
    if (!/\s(RRSIG|NSEC|DNSKEY|CDS)\s/.test(text)) return { is, said: undefined };
    const file = join(folder, "zone");
    writeFileSync(file, `${text}\n`);
    return { is, said: await run("dnssec-verify", ["-z", "-o", name, file]) };
  } finally {
    await moor.close();
  }
}

beforeAll(async () => {
  const hosts = Array.from({ length: 200 }, (_, i) => `h${i} 60 A 192.0.2.${i}`);
  const moor = await startMoorDns({}, database);
  await moor.makeZone(name, `@ 60 NS ns1\nns1 60 A 192.0.2.1\n${hosts.join("\n")}`);
  await moor.close();
});

describe(`a zone is valid after kill -9 while it leaves a stage, ${kills} times in each`, () => {
  // A zone passes through "new" on its way to the others. kill-commands.test.ts kills while a key is replaced.
  it.each(rowsOf(stages, "algorithm-sign", "leaving"))("%s", async (stage, next) => {
    for (let round = 0; round < kills; round += 1) {
      const signing = startProcess([node, program, database, folder, name, stage], {});
      const isThere = () => new RegExp(`^${stage}$`, "m").test(signing.out());
      try {
        await until(isThere, { every: 1, what: () => `the stage ${stage}: ${signing.out()}${signing.err()}` });
        await realPause(Math.random() * 50, "a random moment");
      } finally {
        await signing.stop("SIGKILL");
      }
      const last = signing.out().trim().split("\n").at(-1);
      const { is, said } = await verified();
      // The write in progress is complete, or left no trace.
      if (last === stage) expect([stage, next]).toContain(is);
      if (is === "unsigned") expect(said).toBeUndefined();
      else expect(said).toContain("Zone fully signed");
      expect(await faultsIn(database)).toEqual([]);
    }
  });
});
