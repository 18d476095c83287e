import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RRset } from "../../src/core/records/rrset.ts";
import type { Zone } from "../../src/records/model.ts";
import { newRecordId } from "../../src/records/service/edit/new-id.ts";
import { signZone, unsignNow } from "../../src/records/service/zones/dnssec.ts";
import { writtenSets } from "../rig/core/written-sets.suite.ts";
import { createRandom, pick } from "../rig/random.ts";
import { seed } from "../rig/seed.ts";
import { askOverTcp } from "./ask-over-tcp.ts";
import { everyone, type MoorDns, run, startMoorDns } from "./moor-dns.ts";
import { startUnbound } from "./signing-servers.ts";

/** Per zone; `npm run test:faults` sets more. */
const updates = Number(process.env.MOOR_SIGNED_UPDATES ?? 40);
const random = createRandom(seed);

let moor: MoorDns;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-signing-"));
  moor = await startMoorDns({ networks: everyone });
});
afterAll(async () => {
  await moor?.close();
  rmSync(folder, { recursive: true, force: true });
});

const first = `
  @ 300 NS ns1
  ns1 300 A 192.0.2.1
  www 60 A 192.0.2.2
  *.wild 60 TXT "any"
  a.b.c 60 TXT "below empty non-terminals"
  sub 300 NS ns.sub
  ns.sub 300 A 192.0.2.3`;

const kinds = [
  ["nsec", { algorithm: 13, denial: "nsec" }],
  ["nsec3", { algorithm: 13, denial: "nsec3" }],
  ["ed25519", { algorithm: 15, denial: "nsec" }],
] as const;

async function signed(name: string, choice: (typeof kinds)[number][1]): Promise<Zone> {
  const zone = await moor.makeZone(name, first);
  const done = await signZone({ store: moor.store, actor: "test", now: Date.now() }, zone, choice, moor.signer);
  expect(done).toMatchObject({ ok: true });
  return zone;
}

const owners = [
  "@",
  "www",
  "new",
  "x.new",
  "y.x.new",
  "*.new",
  "*.wild",
  "c",
  "b.c",
  "z.b.c",
  "sub",
  "ns.sub",
  "q.sub",
];
const contents = [
  ...["A 192.0.2.7", "A 192.0.2.8", "AAAA 2001:db8::7", 'TXT "text"', "MX 10 www", `CAA 0 issue "ca.example"`],
  ...["NS ns.elsewhere.example.", `DS 1 13 2 ${"ab".repeat(32)}`, "TYPE65280 \\# 2 abcd"],
];

/** One set is written or removed at a random name. */
async function changeSomething({ id, name }: Zone): Promise<void> {
  const owner = pick(random, owners);
  const [set] = writtenSets(name, `${owner} ${pick(random, [60, 300])} ${pick(random, contents)}`);
  // Delegations of a wildcard and of the apex are not valid.
  if (set === undefined || (/^[@*]/.test(owner) && ["NS", "DS"].includes(set.type))) return;
  const request = { account: moor.account, at: { zone: id }, owners: () => [owner], actor: "test", now: Date.now() };
  await moor.store.write(request, ({ sets }) => {
    const others = sets.filter(({ type }) => type !== set.type);
    return { wanted: random(10) < 6 ? [...others, withIds(set)] : others, result: undefined };
  });
}

const withIds = (set: RRset): RRset => ({
  ...set,
  records: set.records.map((record) => ({ ...record, id: newRecordId() })),
});

/** What BIND's own check of a signed zone says about a transfer of it. */
async function verified(name: string): Promise<string> {
  const file = join(folder, `${name}.zone`);
  writeFileSync(file, `${await moor.dig("+noall", "+answer", "+onesoa", name, "AXFR")}\n`);
  return await run("dnssec-verify", ["-z", "-o", name, file]);
}

const types = { A: 1, NS: 2, TXT: 16, MX: 15, DS: 43, DNSKEY: 48 };

describe(`every change of a signed zone is signed with it (MOOR_SEED=${seed})`, () => {
  it.each(kinds)("%s", async (label, choice) => {
    const name = `${label}.example`;
    const zone = await signed(name, choice);
    expect(await verified(name)).toContain("Zone fully signed");
    const keys = (await moor.dig("+noall", "+answer", name, "DNSKEY")).split("\n");
    const unbound = await startUnbound([{ name, keys }], moor.port);
    try {
      for (let i = 0; i < updates; i++) {
        await changeSomething(zone);
        if (i % 10 === 9) expect(await verified(name)).toContain("Zone fully signed");
        const asked = Array.from({ length: 6 }, () => ({
          name: `${pick(random, ["", "x.", "nothing."])}${pick(random, owners.slice(1)).replace("*", "any")}.${name}`,
          type: pick(
            random,
            Object.values(types).filter((type) => type !== types.DNSKEY),
          ),
          dnssecOk: true,
          recursionDesired: true,
        })).filter((each) => !each.name.includes(".sub.") && !each.name.startsWith("sub."));
        await askOverTcp(unbound.port, asked);
        expect(unbound.said().match(/.*validation failure.*/g) ?? []).toEqual([]);
      }
    } finally {
      await unbound.close();
    }
  });
});

it("an unsigned zone keeps nothing of what was added", async () => {
  const name = "left.example";
  const before = await moor.makeZone(name, first);
  const lines = async () =>
    (await moor.dig("+noall", "+answer", name, "AXFR"))
      .split("\n")
      .filter((line) => !line.includes("SOA"))
      .sort();
  const plain = await lines();
  const by = { store: moor.store, actor: "test", now: Date.now() };
  await signZone(by, before, { algorithm: 13, denial: "nsec3" }, moor.signer);
  expect((await lines()).length).toBeGreaterThan(plain.length);
  expect(await unsignNow(by, before)).toMatchObject({ ok: true });
  expect(await lines()).toEqual(plain);
  expect(await moor.store.signedNames(before, undefined, 10)).toEqual([]);
  expect(await moor.store.sealedKeys(before)).toEqual([]);
});
