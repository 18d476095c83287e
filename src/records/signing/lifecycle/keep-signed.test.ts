import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { fillStore } from "../../../../test/rig/records/filled-store.ts";
import { dsAt, parentWith, wrongDsAt } from "../../../../test/rig/records/parent-with.ts";
import { ignoreSilentServers, publishKeys, rollKey, signZone } from "../../../../test/rig/records/sign.ts";
import { actOn, writeTo } from "../../../../test/rig/store/write.ts";
import type { ParentView } from "../../../core/dnssec/parent-view.ts";
import { headOfSignature } from "../../../core/dnssec/signed-name.ts";
import { longestExpire } from "../../../core/dnssec/soa-expire.ts";
import { wholeAccount } from "../../../core/may.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import { soaIn, timersIn } from "../../../core/records/soa-timers.ts";
import { createLog } from "../../../process/log.ts";
import type { Zone } from "../../model.ts";
import { createRecordService } from "../../service.ts";
import { migrations } from "../../store/sqlite/schema.ts";
import { openSqliteStore, type SqliteStore } from "../../store/sqlite/store.ts";
import { KeyFileSigner, type Signer } from "../signer.ts";
import { createSigningRound, keepSigned } from "./keep-signed.ts";
import { checkSigned, createSigningState } from "./watch-signed.ts";

const day = 86_400_000;
const now = Date.UTC(2026, 10, 16);

let folder: string;
let signer: Signer;
let store: SqliteStore;
let zones: readonly Zone[];
let lines: string[];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-signed-"));
  signer = new KeyFileSigner(join(folder, "key"));
  store = openSqliteStore(":memory:", migrations, signer);
  await fillStore(store);
  const { id: account = 0 } = (await store.account("main")) ?? {};
  zones = (await store.zones(account, { page: 1, perPage: 10 })).items;
  for (const zone of zones)
    await signZone({ store, actor: "test", now }, zone, { algorithm: 13, denial: "nsec" }, signer);
  lines = [];
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

const log = createLog({ format: "json", write: (line) => void lines.push(line) });
const expiriesOf = async (zone: Zone) =>
  (await store.signedNames(zone, undefined, 1_000)).flatMap(({ expires }) =>
    expires === null ? [] : [expires * 1000],
  );

it("a zone that cannot be signed is reported, and does not delay the others", async () => {
  const [bad, good] = zones;
  if (bad === undefined || good === undefined) throw new Error("two zones are needed");
  const broken = {
    ...store,
    run: ((...[command, rule]) =>
      "zone" in command && command.zone === bad.id
        ? Promise.reject(new Error("no key"))
        : store.run(command, rule)) as typeof store.run,
    // The bad zone alone has as many names as are renewed at a time.
    expiringNames: ((before, _, except) => store.expiringNames(before, 1, except)) as typeof store.expiringNames,
  };
  const state = createSigningState();
  const later = now + 13 * day;
  const options = { askParent: async () => [], now: () => later, log };
  await createSigningRound({ ...options, store: broken })(AbortSignal.timeout(60_000));
  await checkSigned({ store, now: () => later, log, state });
  await checkSigned({ store, now: () => later, log, state });
  expect([...state.expiring.keys()]).toEqual([bad.name]);
  expect(Math.min(...(await expiriesOf(good)))).toBeGreaterThan(later + 9 * day);
  expect(state.expiring.get(bad.name)).toBe(Math.min(...(await expiriesOf(bad))));
  expect(lines.join()).toContain("signatures could not be renewed");
  await createSigningRound({ ...options, store })(AbortSignal.timeout(60_000));
  await checkSigned({ store, now: () => later, log, state });
  expect(state.expiring.size).toBe(0);
});

it("silent parents of one account's zones delay neither the zones of others nor the renewal of any signature", async () => {
  const { id: account } = await store.ensureAccount("slow", now);
  const service = createRecordService({ store, nameservers: ["ns1.example"], now: () => now });
  const slow = { account, label: "test", scope: wholeAccount };
  for (let i = 0; i < 40; i++) {
    const draft = {
      name: `z${i}.slow.test`,
      mode: "primary",
      ttl: 60,
      labels: {},
      primaries: [],
      locked: false,
    } as const;
    await service.createZone(slow, { ...draft, content: { kind: "sets", sets: [] } }, {});
    const zone = await store.zoneHolding(draft.name);
    if (zone) await signZone({ store, actor: "test", now }, zone, { algorithm: 13, denial: "nsec" }, signer);
  }
  const asked: string[] = [];
  const later = now + 13 * day;
  const askParent = async (name: string, signal: AbortSignal): Promise<ParentView> => {
    asked.push(name);
    if (name.endsWith("slow.test")) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return [];
  };
  const end = keepSigned({ store, askParent, now: () => later, log, every: 10 });
  try {
    for (const { name } of zones) await expect.poll(() => asked).toContain(name);
    const due = async () => (await store.expiringNames(later + 9 * day, 1_000, [])).length;
    await expect.poll(due, { timeout: 20_000 }).toBe(0);
    expect(asked.filter((name) => name.endsWith("slow.test"))).toHaveLength(16);
  } finally {
    await end();
  }
});

it("after a late start, signatures that have expired are renewed before they count as not renewed", async () => {
  const state = createSigningState();
  const options = { store, now: () => now + 30 * day, log, state };
  await checkSigned(options);
  expect(state.expiring.size).toBe(0);
  await createSigningRound({ ...options, askParent: async () => [] })(AbortSignal.timeout(60_000));
  await checkSigned(options);
  expect(state.expiring.size).toBe(0);
});

it("a DS record for another key is reported until it is replaced or the zone is deleted, and so is a wrong clock", async () => {
  let at = now;
  let parent: ParentView = parentWith([{ tag: 70_000, algorithm: 13, digestType: 2, digest: "00" }]);
  const state = createSigningState();
  const round = createSigningRound({ store, askParent: async () => parent, now: () => at, log });
  // As on a node that does not query the parent: it finds the result in the store.
  const look = async () => {
    await round(AbortSignal.timeout(60_000));
    await checkSigned({ store, now: () => at, log, state });
  };
  await look();
  expect(state).toMatchObject({ zones: zones.length, changedInFuture: new Set() });
  const mismatched = () => [...state.parentFaults].flatMap(([zone, { kind }]) => (kind === "wrong-ds" ? [zone] : []));
  expect(mismatched().sort()).toEqual(zones.map(({ name }) => name).sort());
  const [first] = zones;
  await actOn(
    store,
    { account: first?.account ?? 0, at: { number: first?.number ?? 0 }, owners: "all", actor: "test", now },
    () => ({ wanted: undefined, remove: true, result: undefined }),
  );
  at += day;
  parent = [];
  await look();
  expect(mismatched()).toEqual(zones.slice(1).map(({ name }) => name));
  parent = parentWith([]);
  at += day;
  await look();
  expect(state.parentFaults.size).toBe(0);
  expect(state.changedInFuture.size).toBe(0);
  at = now - day;
  await look();
  expect([...state.changedInFuture]).toEqual(zones.slice(1).map(({ name }) => name));
  expect(lines.filter((line) => line.includes("the clock is behind the last change"))).toHaveLength(1);
});

it("the keys of another server stay published while keys are replaced, and its DS record is not a mismatch", async () => {
  const [zone] = zones;
  if (zone === undefined) throw new Error("a zone is needed");
  const foreign = {
    tag: 4_711,
    added: now,
    flags: 257,
    algorithm: 13 as const,
    publicKey: Buffer.alloc(64, 7).toString("base64"),
  };
  const zoneKey = { ...foreign, tag: 815, flags: 256, publicKey: Buffer.alloc(64, 8).toString("base64") };
  let at = now;
  const by = () => ({ store, actor: "test", now: at });
  const zoneNow = async () => (await store.zoneHolding(zone.name)) ?? zone;
  const signing = async () => (await zoneNow()).settings.dnssec;
  expect(await publishKeys(by(), zone, [foreign, zoneKey])).toMatchObject({ ok: true });
  let ds = dsAt(zone.name, foreign);
  const askParent = async () => parentWith(ds);
  const round = createSigningRound({ store, askParent, now: () => at, log });
  /** Days pass; the parent has a DS record of the other server, and of those keys that are asked for. */
  const passUntilSecure = async () => {
    for (let i = 0; i < 20; i++) {
      at += day;
      await round(AbortSignal.timeout(60_000));
      expect((await signing())?.parentFault).toBeUndefined();
      if ((await signing())?.stage === "secure") return;
      const { keys = [] } = (await signing()) ?? {};
      ds = [foreign, ...keys.filter(({ inParent }) => inParent)].flatMap((key) => dsAt(zone.name, key));
    }
  };
  const published = async (type: string) => {
    await store.signed();
    const [apex] = (await store.signedNames(zone, undefined, 1_000)).filter(({ owner }) => owner === "@");
    return apex?.generated.find((set) => set.type === type)?.values.length;
  };
  expect(await published("TYPE48")).toBe(3);
  await passUntilSecure();
  expect([await published("TYPE48"), await published("TYPE59"), await published("TYPE60")]).toEqual([3, 2, 2]);
  const { keys: [first] = [] } = (await signing()) ?? {};
  expect(await rollKey(by(), await zoneNow(), 15, signer)).toMatchObject({ ok: false });
  expect(await rollKey(by(), await zoneNow(), undefined, signer)).toMatchObject({ ok: true });
  expect(await published("TYPE48")).toBe(4);
  await passUntilSecure();
  expect(await signing()).toMatchObject({ stage: "secure", others: [foreign, zoneKey] });
  expect((await signing())?.keys).not.toContainEqual(first);
  expect([await published("TYPE48"), await published("TYPE59")]).toEqual([3, 2]);

  ds = wrongDsAt(zone.name, foreign);
  at += day;
  await round(AbortSignal.timeout(60_000));
  expect((await signing())?.parentFault).toMatchObject({ kind: "wrong-ds", since: at });
  expect(lines.join("")).toContain("the DS record that `moor dnssec status ZONE` shows");
});

it("signatures stay valid by the clock of others when this clock jumps an hour or a month, forward or back", async () => {
  const [zone] = zones;
  if (zone === undefined) throw new Error("a zone is needed");
  const month = 30 * day;
  let at = now;
  const state = createSigningState();
  const round = createSigningRound({ store, askParent: async () => [], now: () => at, log });
  /** Whether every signature is valid at each of `times`, after a change and a round of work at `clock`. */
  const validAfter = async (clock: number, ...times: readonly number[]): Promise<readonly boolean[]> => {
    at = clock;
    const request = { account: zone.account, at: { zone: zone.id }, owners: () => ["jump"], actor: "test", now: at };
    const record = {
      id: `${at}`,
      name: "jump",
      value: `"${at}"`,
      rdata: `"${at}"`,
      comment: "",
      created: at,
      modified: at,
    };
    await writeTo(store, request, () => ({
      wanted: [{ owner: "jump", type: "TXT", ttl: 60, records: [record] }],
      result: undefined,
    }));
    await store.signed();
    await round(AbortSignal.timeout(60_000));
    await store.signed();
    await checkSigned({ store, now: () => at, log, state });
    const heads = (await store.signedNames(zone, undefined, 1_000)).flatMap(({ generated }) =>
      generated.filter(({ type }) => type === "TYPE46").flatMap(({ values }) => values.map(headOfSignature)),
    );
    return times.map((time) => heads.every((head) => head.inception * 1000 <= time && time < head.expires * 1000));
  };
  const hour = day / 24;
  expect(await validAfter(now + hour, now, now + hour)).toEqual([true, true]);
  expect(await validAfter(now, now, now + hour)).toEqual([true, true]);
  // A month ahead: they are renewed, as they must be if that clock is right.
  expect(await validAfter(now + month, now + month)).toEqual([true]);
  expect(state.changedInFuture.size).toBe(0);
  // Back again: one of the two clocks was wrong.
  expect(await validAfter(now, now, now + month)).toEqual([true, true]);
  expect(lines.join()).toContain("the last signatures of a zone are from the future");
  expect(await validAfter(now + 2 * hour, now + 2 * hour, now + month)).toEqual([true, true]);
  expect(await validAfter(now - month, now - month, now, now + month)).toEqual([true, true, true]);
  expect([...state.changedInFuture]).toContain(zone.name);
  // It is reported until the clock has caught up.
  expect(await validAfter(now + month, now + month)).toEqual([true]);
  expect(state.changedInFuture.size).toBe(0);
});

it("by a clock that is years behind, no signature is touched, and the zone is maintained again when it is right", async () => {
  const kept = async () => await Promise.all(zones.map((zone) => store.signedNames(zone, undefined, 1_000)));
  const before = await kept();
  const state = createSigningState();
  let at = Date.UTC(2020, 0, 1);
  const round = createSigningRound({ store, askParent: async () => parentWith([]), now: () => at, log });
  for (let i = 0; i < 3; i++) {
    await round(AbortSignal.timeout(60_000));
    await checkSigned({ store, now: () => at, log, state });
    at += day;
  }
  expect(await kept()).toEqual(before);
  expect([...state.changedInFuture].toSorted()).toEqual(zones.map(({ name }) => name).toSorted());
  expect(lines.join()).toContain("the clock is behind the last change of a signed zone");
  expect(lines.join()).not.toContain("are being replaced");
  at = now + 13 * day;
  await round(AbortSignal.timeout(60_000));
  for (const zone of zones) expect(Math.min(...(await expiriesOf(zone)))).toBeGreaterThan(at + 9 * day);
});

/** The first zone, secure, with a parent that the test sets. */
async function secureZone() {
  const [zone] = zones;
  if (zone === undefined) throw new Error("a zone is needed");
  const state = createSigningState();
  const rig = {
    at: now,
    parent: [] as ParentView,
    name: zone.name,
    zoneNow: async () => (await store.zoneHolding(zone.name)) ?? zone,
    signing: async () => {
      const { dnssec } = (await rig.zoneNow()).settings;
      if (dnssec === undefined) throw new Error("the zone is not signed");
      return dnssec;
    },
    by: () => ({ store, actor: "test", now: rig.at }),
    /** Hours pass, with a visit in each. */
    pass: async (hours: number) => {
      for (let i = 0; i < hours; i++) {
        rig.at += day / 24;
        await round(AbortSignal.timeout(60_000));
      }
      await checkSigned({ store, now: () => rig.at, log, state });
    },
    fault: () => state.parentFaults.get(zone.name),
    logged: (text: string) => lines.filter((line) => line.includes(text) && line.includes(`"${zone.name}"`)).length,
  };
  const askParent = async (name: string) => (name === zone.name ? rig.parent : []);
  const round = createSigningRound({ store, askParent, now: () => rig.at, log });
  const { keys } = await rig.signing();
  rig.parent = parentWith(keys.flatMap((key) => dsAt(zone.name, key)));
  await rig.pass(1);
  expect(await rig.signing()).toMatchObject({ stage: "secure" });
  return rig;
}

it("a DS record with a wrong digest does not count: no stage goes on, no key is removed, and it is reported", async () => {
  const zone = await secureZone();
  expect(await rollKey(zone.by(), await zone.zoneNow(), undefined, signer)).toMatchObject({ ok: true });
  await zone.pass(3);
  const [old, next] = (await zone.signing()).keys;
  if (old === undefined || next === undefined) throw new Error("two keys are expected");
  expect(await zone.signing()).toMatchObject({ stage: "roll-parent" });
  zone.parent = parentWith([...dsAt(zone.name, old), ...wrongDsAt(zone.name, next)]);
  await zone.pass(1);
  expect(zone.fault()).toMatchObject({ kind: "wrong-digest" });
  zone.parent = parentWith(wrongDsAt(zone.name, next));
  await zone.pass(200);
  expect(await zone.signing()).toMatchObject({ stage: "roll-parent", keys: [{ id: old.id }, { id: next.id }] });
  expect(zone.fault()).toMatchObject({ kind: "wrong-ds" });
  expect(zone.logged("no DS record at the parent matches a key")).toBe(1);
  expect(zone.logged("has been waiting for more than a day")).toBeGreaterThan(5);
  zone.parent = parentWith(dsAt(zone.name, next));
  await zone.pass(30);
  expect(await zone.signing()).toMatchObject({ stage: "secure", keys: [{ id: next.id }] });
  expect(zone.fault()).toBeUndefined();
});

it("a DS record that disappears from a secure zone is reported until it is there again", async () => {
  const zone = await secureZone();
  const before = zone.parent;
  zone.parent = parentWith([]);
  await zone.pass(1);
  expect(zone.fault()).toMatchObject({ kind: "no-ds", text: "the parent has no DS record of the zone" });
  const noticed = zone.at;
  await zone.pass(5);
  expect((await zone.signing()).parentFault).toMatchObject({ since: noticed });
  expect(zone.logged("has disappeared from the parent")).toBe(1);
  zone.parent = before;
  await zone.pass(1);
  expect(zone.fault()).toBeUndefined();
  expect(zone.logged("has the expected DS records again")).toBe(1);
  // Only one of two servers has lost it.
  const [ds = []] = before.map((each) => ("ds" in each ? each.ds : []));
  zone.parent = parentWith(ds, []);
  await zone.pass(1);
  expect(zone.fault()).toMatchObject({ kind: "no-ds", text: "ns2.parent.test has no DS record of the zone" });
});

it("a DS record of an algorithm that no key has, beside the right one, is a hint that holds nothing", async () => {
  const zone = await secureZone();
  const [view] = zone.parent;
  const right = view !== undefined && "ds" in view ? view.ds : [];
  zone.parent = parentWith([...right, { tag: 1, algorithm: 8, digestType: 2, digest: "00" }]);
  await zone.pass(2);
  expect(zone.fault()).toMatchObject({
    kind: "other-algorithm",
    text: "the parent has a DS record of an algorithm that no key of the zone has",
  });
  expect(zone.logged("strict resolvers may reject the zone")).toBe(1);
  expect(await rollKey(zone.by(), await zone.zoneNow(), undefined, signer)).toMatchObject({ ok: true });
  zone.parent = parentWith(right);
  await zone.pass(3);
  expect(zone.fault()).toBeUndefined();
});

it("a server of the parent that does not answer holds the stage, and is named; a single lost answer is not worth a change", async () => {
  const zone = await secureZone();
  const [answering] = zone.parent;
  if (answering === undefined) throw new Error("a server is expected");
  const silent = { because: "ns2.parent.test does not answer" };
  const { serial } = await zone.zoneNow();
  zone.parent = [answering, silent];
  await zone.pass(1);
  zone.parent = [answering];
  await zone.pass(1);
  expect((await zone.zoneNow()).serial).toBe(serial);

  await rollKey(zone.by(), await zone.zoneNow(), undefined, signer);
  await zone.pass(3);
  const next = (await zone.signing()).keys[1];
  if (next === undefined) throw new Error("a second key is expected");
  zone.parent = [...parentWith(dsAt(zone.name, next)), silent];
  await zone.pass(200);
  expect(await zone.signing()).toMatchObject({ stage: "roll-parent" });
  expect(zone.fault()).toMatchObject({ kind: "unverified", text: silent.because });
  expect(zone.logged("could not be read from every server")).toBe(1);
  expect(zone.logged(silent.because)).toBeGreaterThan(1);
  zone.parent = parentWith(dsAt(zone.name, next), dsAt(zone.name, next));
  await zone.pass(30);
  expect(await zone.signing()).toMatchObject({ stage: "secure", keys: [{ id: next.id }] });
});

it("the operator can go on without a server of the parent that never answers, but not against one that contradicts", async () => {
  const zone = await secureZone();
  expect(await ignoreSilentServers(zone.by(), await zone.zoneNow())).toMatchObject({ ok: false });
  await rollKey(zone.by(), await zone.zoneNow(), undefined, signer);
  await zone.pass(3);
  const [old, next] = (await zone.signing()).keys;
  if (old === undefined || next === undefined) throw new Error("two keys are expected");
  expect(await ignoreSilentServers(zone.by(), await zone.zoneNow())).toMatchObject({
    ok: false,
    faults: [{ message: expect.stringContaining("has answered, as far as is known") }],
  });
  const silent = { because: "ns2.parent.test does not answer" };
  zone.parent = [...parentWith(dsAt(zone.name, next)), silent];
  await zone.pass(60);
  expect(await ignoreSilentServers(zone.by(), await zone.zoneNow())).toMatchObject({ ok: true });
  zone.parent = [...parentWith(dsAt(zone.name, next), dsAt(zone.name, old)), silent];
  await zone.pass(60);
  expect(await zone.signing()).toMatchObject({ stage: "roll-parent", ignoresSilent: true });
  zone.parent = [...parentWith(dsAt(zone.name, next)), silent];
  await zone.pass(60);
  const signing = await zone.signing();
  expect(signing).toMatchObject({ stage: "secure", keys: [{ id: next.id }] });
  expect(signing).not.toHaveProperty("ignoresSilent");
});

it("a TTL that is lowered just before the next key signs counts while caches may have the old signatures", async () => {
  const zone = await secureZone();
  const write = async (ttl: number) => {
    const { account, id } = await zone.zoneNow();
    const record = { id: "slow", name: "slow", value: "192.0.2.1", rdata: "192.0.2.1", comment: "" };
    const request = { account, at: { zone: id }, owners: () => ["slow"], actor: "test", now: zone.at };
    await writeTo(store, request, () => ({
      wanted: [{ owner: "slow", type: "A", ttl, records: [{ ...record, created: zone.at, modified: zone.at }] }],
      result: undefined,
    }));
  };
  await write(4 * 86_400);
  await rollKey(zone.by(), await zone.zoneNow(), undefined, signer);
  await zone.pass(2);
  const { keys } = await zone.signing();
  zone.parent = parentWith(keys.slice(1).flatMap((key) => dsAt(zone.name, key)));
  await zone.pass(24);
  await write(60);
  await zone.pass(2);
  expect(await zone.signing()).toMatchObject({ stage: "roll-sign", keys: [{ signs: false }, { signs: true }] });
  await zone.pass(3 * 24);
  expect(await zone.signing()).toMatchObject({ stage: "roll-sign" });
  await zone.pass(24);
  expect(await zone.signing()).toMatchObject({ stage: "secure" });
});

it("a new key never has the tag of one in use", async () => {
  const zone = await secureZone();
  const [old] = (await zone.signing()).keys;
  if (old === undefined) throw new Error("a key is expected");
  let made = 0;
  const generateKey: Signer["generateKey"] = (algorithm, at) => {
    made += 1;
    const { key, encrypted } = signer.generateKey(algorithm, at);
    return { key: made < 3 ? { ...key, tag: old.tag } : key, encrypted };
  };
  expect(await rollKey(zone.by(), await zone.zoneNow(), undefined, { ...signer, generateKey })).toMatchObject({
    ok: true,
  });
  expect(made).toBe(3);
  expect(new Set((await zone.signing()).keys.map(({ tag }) => tag)).size).toBe(2);
});

it("a zone that was signed with a long SOA expire gets a shorter one when its signatures are renewed", async () => {
  const [zone] = zones;
  if (zone === undefined) throw new Error("a zone is needed");
  const expire = async () => timersIn(soaIn(await store.sets(zone, { owner: "@", type: "SOA" }))).expire;
  const request = { account: zone.account, at: { zone: zone.id }, owners: () => ["@"], actor: "test", now };
  const lengthen = (set: RRset): RRset => ({
    ...set,
    records: set.records.map((record) => ({
      ...record,
      rdata: record.rdata.replace(` ${longestExpire} `, " 3600000 "),
    })),
  });
  await writeTo(store, request, ({ sets }) => ({ wanted: sets.map(lengthen), result: undefined }));
  expect(await expire()).toBe(3_600_000);
  const round = createSigningRound({ store, askParent: async () => [], now: () => now + 13 * day, log });
  await round(AbortSignal.timeout(60_000));
  expect(await expire()).toBe(longestExpire);
});
