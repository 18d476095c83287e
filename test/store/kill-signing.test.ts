import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, it, vi } from "vitest";
import { recordsDatabase } from "../../src/records/open-store.ts";
import { everyone, run, startMoorDns } from "../nameserver/moor-dns.ts";
import { node } from "../rig/namespace.ts";
import { testLimit } from "../rig/patience.ts";
import { startProcess } from "../rig/started-process.ts";
import { until } from "../rig/until.ts";
import { faultsIn } from "./store-files.ts";

/** `npm run test:faults` sets more. */
const kills = Number(process.env.MOOR_KILLS ?? 3);
vi.setConfig({ testTimeout: testLimit + kills * 10_000 });

const folder = mkdtempSync(join(tmpdir(), "moor-kill-signing-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const name = "stages.example";
const database = recordsDatabase(folder);

/** What BIND's check says about the zone; undefined if nothing of it is signed. */
async function verified(): Promise<string | undefined> {
  const moor = await startMoorDns({ networks: everyone }, database);
  try {
    const text = await moor.dig("+noall", "+answer", "+onesoa", name, "AXFR");
    expect(text).toContain("h199.stages.example.");
    if (!/\s(RRSIG|NSEC|DNSKEY|CDS)\s/.test(text)) return undefined;
    const file = join(folder, "zone");
    writeFileSync(file, `${text}\n`);
    return await run("dnssec-verify", ["-z", "-o", name, file]);
  } finally {
    await moor.close();
  }
}

it(`kill -9 at any moment on the way from stage to stage leaves a zone that is valid, ${kills} times`, async () => {
  const hosts = Array.from({ length: 200 }, (_, i) => `h${i} 60 A 192.0.2.${i}`);
  const moor = await startMoorDns({}, database);
  await moor.makeZone(name, `@ 60 NS ns1\nns1 60 A 192.0.2.1\n${hosts.join("\n")}`);
  await moor.close();
  const program = [node, join(import.meta.dirname, "signing-process.ts"), database, folder, name] as const;
  const seen = new Set<string>();
  for (let round = 0; round < kills; round += 1) {
    const signing = startProcess([...program], {});
    const stages = () => signing.out().trim().split("\n");
    const wanted = 2 + ((round * 5) % 13);
    await until(() => stages().length >= wanted, { what: () => `${wanted} stages: ${signing.out()}${signing.err()}` });
    await sleep(Math.random() * 50);
    await signing.stop("SIGKILL");
    for (const stage of stages()) seen.add(stage);
    const said = await verified();
    if (said === undefined) expect(stages().at(-1)).toMatch(/unsigned|leaving/);
    else expect(said).toContain("Zone fully signed");
    expect(await faultsIn(database)).toEqual([]);
  }
  expect([...seen]).toEqual(expect.arrayContaining(["new", "secure"]));
});
