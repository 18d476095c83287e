import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RRset } from "../../src/core/records/rrset.ts";
import type { Zone } from "../../src/records/model.ts";
import { newRecordId } from "../../src/records/new-id.ts";
import { writtenSets } from "../rig/core/written-sets.suite.ts";
import { freePort } from "../rig/free-port.ts";
import { isLongRun, rowsOf } from "../rig/long-run.ts";
import { testLimit } from "../rig/patience.ts";
import { createRandom, pick } from "../rig/random.ts";
import { changeDenial, signZone, unsignNow } from "../rig/records/sign.ts";
import { tellUnbound } from "../rig/rehearsal/unbound.ts";
import { seed } from "../rig/seed.ts";
import { writeTo } from "../rig/store/write.ts";
import { askOverTcp } from "./ask-over-tcp.ts";
import { type Follower, startFollower } from "./following-servers.ts";
import { everyone, type MoorDns, run, startMoorDns } from "./moor-dns.ts";
import { cachedFor, startUnbound } from "./signing-servers.ts";

/** The number of updates in all zones together; `npm run test:faults` sets more. */
const updates = Number(process.env.MOOR_SIGNED_UPDATES ?? (isLongRun ? 60 : 36));
/** After this many, everything is checked, not only a few questions. */
const checkEvery = isLongRun ? 10 : 12;
const random = createRandom(seed);

let moor: MoorDns;
let folder: string;
let unbound: Awaited<ReturnType<typeof startUnbound>>;
/** It answers from cached proofs as long as their TTL allows (RFC 8198), so it may combine old and new ones. */
let remembering: typeof unbound;
const remembers = ["tcp-upstream: yes", "aggressive-nsec: yes", "neg-cache-size: 1m"];
let followers: readonly Follower[] = [];
const zones = new Map<string, Zone>();
const counts = { updates: 0, "questions to unbound": 0, "questions to delv": 0, "whole zones": 0 };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-signing-"));
  const ports = { NSD: await freePort(), Knot: await freePort(), BIND: await freePort() };
  const notify = Object.values(ports).map((port) => ({ host: "127.0.0.1", port, keyName: undefined }));
  moor = await startMoorDns({ networks: everyone, notify });
  for (const [label, choice] of [...tried, [changing, { algorithm: 15, denial: "nsec" }] as const])
    zones.set(label, await signed(`${label}.example`, choice));
  const names = [...zones.values()].map(({ name }) => name);
  const anchors = names.map(async (name) => ({ name, keys: (await keysOf(name)).split("\n") }));
  unbound = await startUnbound(await Promise.all(anchors), moor.port, cachedFor(0));
  remembering = await startUnbound(await Promise.all(anchors), moor.port, remembers);
  followers = await Promise.all(
    (["NSD", "Knot", "BIND"] as const).map((name) =>
      startFollower(name, { port: ports[name], moor: moor.port, zones: names }),
    ),
  );
});
afterAll(async () => {
  if (isLongRun) console.info({ seed, ...counts, IXFR: moor.transfers("ixfr") });
  await unbound?.close();
  await remembering?.close();
  for (const follower of followers) await follower.close();
  await moor?.close();
  rmSync(folder, { recursive: true, force: true });
});

const keysOf = (name: string) => moor.dig("+noall", "+answer", name, "DNSKEY");

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
/** The zone that changes its kind of proof is signed with Ed25519 in every run. */
const tried = rowsOf(kinds, "nsec", "nsec3");
/** This zone changes from one kind of proof to the other. */
const changing = "changing";

const perZone = Math.ceil(updates / kinds.length);

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
  await writeTo(moor.store, request, ({ sets }) => {
    const others = sets.filter(({ type }) => type !== set.type);
    const wanted = random(10) < 6 ? [...others, withIds(set)] : others;
    // The APIs refuse a DS record without a delegation: BIND's resolver rejects all names below it.
    const isDelegated = wanted.some(({ type }) => type === "NS");
    return { wanted: wanted.filter(({ type }) => type !== "DS" || isDelegated), result: undefined };
  });
}

const withIds = (set: RRset): RRset => ({
  ...set,
  records: set.records.map((record) => ({ ...record, id: newRecordId() })),
});

const transferFrom = (port: number, name: string) =>
  run("dig", ["@127.0.0.1", "-p", `${port}`, "+noall", "+answer", "+onesoa", name, "AXFR"]);
const sorted = (text: string) => text.split("\n").sort();

/**
 * Checks the whole zone that moor transfers with the tools of BIND, ldns and Knot; every secondary must have exactly
 * the same.
 */
async function checkWhole(name: string): Promise<void> {
  const text = await transferFrom(moor.port, name);
  const file = join(folder, `${name}.zone`);
  writeFileSync(file, `${text}\n`);
  const [bind, ldns, knot] = await Promise.all([
    run("dnssec-verify", ["-z", "-o", name, file]),
    run("ldns-verify-zone", [file]),
    run("kzonecheck", ["-v", "--dnssec", "on", "-o", name, file]),
  ]);
  expect(bind).toContain("Zone fully signed");
  expect(ldns).toContain("Zone is verified and complete");
  // The random changes remove addresses of nameservers, too.
  expect(
    knot
      .split("\n\n")[0]
      ?.split("\n")
      .filter((line) => !/No semantic error found|missing glue/.test(line)),
  ).toEqual([]);
  const serial = Number(/\sSOA\s+\S+ \S+ (\d+)/.exec(text)?.[1]);
  await Promise.all(
    followers.map(async (follower) => {
      await follower.reaches(name, serial);
      expect(sorted(await transferFrom(follower.port, name))).toEqual(sorted(text));
    }),
  );
  counts["whole zones"] += 1 + followers.length;
}

const withoutDots = owners.slice(1).filter((owner) => !owner.includes("."));
const types = { A: 1, NS: 2, MX: 15, TXT: 16, AAAA: 28, DS: 43, unknown: 65_280 };
type Asked = { readonly name: string; readonly type: keyof typeof types };

/** Questions that moor answers itself, without delegating them. */
async function someQuestions(zone: string, count: number): Promise<readonly (Asked & { readonly rcode: number })[]> {
  const asked = Array.from({ length: count }, () => {
    const type = pick(random, Object.keys(types)) as Asked["type"];
    // unbound hangs when it is asked for a DS record below an alias.
    if (type === "DS") return { name: `${pick(random, withoutDots)}.${zone}`, type };
    const owner = pick(random, owners.slice(1)).replace("*", "any");
    return { name: `${pick(random, ["", "x.", "nothing."])}${owner}.${zone}`, type };
  });
  const replies = await askOverTcp(
    moor.port,
    asked.map(({ name, type }) => ({ name, type: types[type], dnssecOk: true })),
  );
  return asked.flatMap((each, i) => (replies[i]?.authoritative ? [{ ...each, rcode: replies[i].rcode }] : []));
}

/** Every answer is validated as secure: nothing is bogus, insecure, or fails. */
async function askUnbound(zone: string, resolver = unbound): Promise<void> {
  const asked = await someQuestions(zone, 6);
  // An answer with a TTL of 0 is given again until the second is over.
  if (resolver === unbound) await tellUnbound(resolver.folder, `flush_zone ${zone}`);
  const replies = await askOverTcp(
    resolver.port,
    asked.map(({ name, type }) => ({ name, type: types[type], dnssecOk: true, recursionDesired: true })),
  );
  const outcomes = asked.map((each, i) => ({
    ...each,
    // A cached answer may be older than the zone.
    ...(resolver === unbound && { rcode: replies[i]?.rcode }),
    secure: replies[i]?.authenticData,
  }));
  expect(outcomes).toEqual(asked.map((each) => ({ ...each, secure: true })));
  expect(resolver.said().match(/.*validation failure.*/g) ?? []).toEqual([]);
  counts["questions to unbound"] += asked.length;
}

/** delv validates what moor and each secondary answers. */
async function askDelv(zone: string, anchors: string): Promise<void> {
  const servers = [moor.port, ...followers.map(({ port }) => port)];
  const asked = (await someQuestions(zone, servers.length)).filter(({ type }) => type !== "unknown");
  const said = asked.map(({ name, type }, i) => {
    const words = ["@127.0.0.1", "-p", `${servers[i]}`, "-a", anchors, `+root=${zone}`, `${name}.`, type];
    return run("delv", words);
  });
  for (const answer of await Promise.all(said)) expect(answer).toContain("fully validated");
  counts["questions to delv"] += asked.length;
}

/** A file with the keys of the zone, for delv. */
async function anchorsFor(name: string): Promise<string> {
  const file = join(folder, `${name}.keys`);
  const [, flags, protocol, algorithm, key] = /DNSKEY\s+(\d+) (\d+) (\d+) (.*)$/m.exec(await keysOf(name)) ?? [];
  writeFileSync(
    file,
    `trust-anchors { "${name}." static-key ${flags} ${protocol} ${algorithm} "${key?.replaceAll(" ", "")}"; };\n`,
  );
  return file;
}

describe(`every change of a signed zone is signed with it, here and at every secondary (MOOR_SEED=${seed})`, () => {
  it.each(tried)("%s", { timeout: testLimit + perZone * 3_000 }, async (label) => {
    const zone = zones.get(label) as Zone;
    const { name } = zone;
    const anchors = await anchorsFor(name);
    const axfrs = moor.transfers("axfr");
    for (let i = 1; i <= perZone; i++) {
      await changeSomething(zone);
      await askUnbound(name);
      counts.updates += 1;
      if (i % checkEvery !== 0) continue;
      await checkWhole(name);
      await askDelv(name, anchors);
    }
    // The transfers of the checks; the secondaries got every change by IXFR.
    expect(moor.transfers("axfr") - axfrs).toBe(Math.floor(perZone / checkEvery));
    expect(moor.transfers("ixfr")).toBeGreaterThan(0);
  });
});

it("changes between NSEC and NSEC3 in place: every answer validates, here and at every secondary", async () => {
  const zone = zones.get(changing) as Zone;
  const anchors = await anchorsFor(zone.name);
  const key = await keysOf(zone.name);
  const proofs = async () => new Set((await transferFrom(moor.port, zone.name)).match(/(?<=\sIN\s+)NSEC3?(?=\s)/g));
  for (const denial of ["nsec3", "nsec"] as const) {
    await askUnbound(zone.name, remembering);
    const by = { store: moor.store, actor: "test", now: Date.now() };
    const [changed] = await Promise.all([
      changeDenial(by, zone, denial),
      ...Array.from({ length: 5 }, () => askUnbound(zone.name)),
      askUnbound(zone.name, remembering),
    ]);
    expect(changed).toMatchObject({ ok: true, value: { denial } });
    expect(await proofs()).toEqual(new Set([denial.toUpperCase()]));
    await askUnbound(zone.name);
    await askUnbound(zone.name, remembering);
    await checkWhole(zone.name);
    await askDelv(zone.name, anchors);
    await changeSomething(zone);
    await checkWhole(zone.name);
  }
  expect(await keysOf(zone.name)).toBe(key);
});

it("an unsigned zone keeps none of the records that signing added", async () => {
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
  expect(await moor.store.encryptedKeys(before)).toEqual([]);
});
