import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { writtenSets } from "../../../../../test/rig/core/written-sets.suite.ts";
import { addressOf, type PostgresRig, patient, startPostgresRig } from "../../../../../test/rig/records/postgres.ts";
import { servedLines } from "../../../../../test/rig/records/served-lines.ts";
import { signZone } from "../../../../../test/rig/records/sign.ts";
import { actOn, createZoneIn, writeTo } from "../../../../../test/rig/store/write.ts";
import { until } from "../../../../../test/rig/until.ts";
import { dnssecTypes } from "../../../../core/dnssec/codes.ts";
import { generatedKey, signaturesIn } from "../../../../core/dnssec/planned-names.ts";
import { typeCode } from "../../../../core/rdata/table.ts";
import type { Fault } from "../../../../core/result.ts";
import { StoreBusy } from "../../../../lib/limits/store-busy.ts";
import { noLog } from "../../../../process/log.ts";
import { plainSettings, type Zone } from "../../../model.ts";
import { newRecordId } from "../../../new-id.ts";
import { KeyFileSigner, type Signer } from "../../../signing/signer.ts";
import { checkStore } from "../../../tools/check/check.ts";
import { readTables } from "../../../tools/tables/open.ts";
import type { RecordStore } from "../../port.ts";
import { openPostgresStore, type PostgresStore } from "../store.ts";

const now = Date.now();
const name = "z.example";
let rig: PostgresRig;
let folder: string;
let url: string;
let one: PostgresStore;
let two: PostgresStore;
let zone: Zone;
const opened: PostgresStore[] = [];
let stops: (() => void | Promise<void>)[] = [];

beforeAll(async () => {
  rig = await startPostgresRig();
});
afterAll(() => rig.stop());
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-follow-"));
  url = await rig.preparedUrl();
  [one, two] = [await open(), await open()];
  const { id: account } = await one.ensureAccount("main", now);
  const hosts = Array.from({ length: 10 }, (_, i) => `h${i} 60 A 192.0.2.1`).join("\n");
  const sets = setsIn(`@ 60 SOA ns1 hostmaster 1 7200 900 1209600 300\n@ 60 NS ns1\nns1 60 A 192.0.2.1\n${hosts}`);
  const settings = plainSettings(60);
  const made = await createZoneIn(one, { account, id: name, name, settings, serial: 1, created: now, sets }, "tester");
  if (typeof made === "string") throw new Error(made);
  sign(one);
  await signZone({ store: one, actor: "tester", now }, made, { algorithm: 15, denial: "nsec" }, newSigner());
  await stopSigning();
  zone = (await one.zone(account, name)) ?? made;
});
afterEach(async () => {
  await stopSigning();
  for (const store of opened.splice(0)) await store.close();
  rmSync(folder, { recursive: true });
});

const newSigner = (keyFile = "key") => new KeyFileSigner(join(folder, keyFile));

/** A node that does not sign until `sign` is called. */
async function open(signer = newSigner()): Promise<PostgresStore> {
  const store = await openPostgresStore({ address: addressOf(url), log: noLog, signer, limits: patient });
  opened.push(store);
  return store;
}

const sign = (store: PostgresStore) => void stops.push(store.signChanges().end);

async function stopSigning(): Promise<void> {
  for (const stop of stops) await stop();
  stops = [];
}

const setsIn = (text: string) =>
  writtenSets(name, text).map((set) => ({
    ...set,
    records: set.records.map((record) => ({ ...record, id: newRecordId() })),
  }));

const put = (line: string, to: RecordStore = one) => {
  const wanted = setsIn(line);
  const owners = wanted.map(({ owner }) => owner);
  const request = { account: zone.account, at: { zone: zone.id }, owners: () => owners, actor: "tester", now };
  return writeTo(to, request, () => ({ wanted, result: undefined }));
};

const setSettings = (to: RecordStore, change: (settings: Zone["settings"]) => Zone["settings"]) => {
  const request = { account: zone.account, at: { zone: zone.id }, owners: () => [], actor: "tester", now };
  return writeTo(to, request, ({ zone: { settings } }) => ({
    wanted: undefined,
    settings: change(settings),
    result: undefined,
  }));
};

/** What DNS would answer: addresses, and how many serials were served since. */
async function served(store: RecordStore, ...owners: readonly string[]): Promise<string> {
  const current = (await store.zone(zone.account, zone.id)) ?? zone;
  return await servedLines(store, current, zone.serial, owners);
}

const becomes = (store: RecordStore, owners: readonly string[], expected: string) =>
  until(async () => (await served(store, ...owners)) === expected, {
    what: () => `${owners.join()} to be ${expected}`,
  });

async function faults(): Promise<readonly Fault[]> {
  const place = { kind: "postgres", address: addressOf(url) } as const;
  const tables = await readTables(place, "look", AbortSignal.timeout(600_000));
  const found: Fault[] = [];
  try {
    await checkStore(tables, { fault: (fault) => void found.push(fault), signal: new AbortController().signal });
  } finally {
    await tables.close();
  }
  return found;
}

/** Each row with signatures begins where the one before it ends. */
async function expectOneChain(start: number): Promise<void> {
  const log = await one.logAfter(start, 10_000);
  const rows = log.flatMap(({ change }) => (change.kind === "signatures" ? [change] : []));
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.slice(1).map(({ after }) => after)).toEqual(rows.slice(0, -1).map(({ through }) => through));
}

it("what is not signed is not served, and another node signs it", async () => {
  await put("h0 60 A 192.0.2.7");
  await put("new 60 A 192.0.2.7");
  expect(await served(two, "h0", "new", "h1")).toBe("192.0.2.1,none,192.0.2.1,0");
  expect(await faults()).toEqual([]);
  sign(two);
  await becomes(one, ["h0", "new", "h1"], "192.0.2.7,192.0.2.7,192.0.2.1,2");
  // From now on, it is woken by the feed.
  await put("h1 60 A 192.0.2.8");
  await becomes(one, ["h1"], "192.0.2.8,3");
  expect(await faults()).toEqual([]);
});

it("writes that come together are one version", async () => {
  await Promise.all(Array.from({ length: 10 }, (_, i) => put(`h${i} 60 A 192.0.2.${10 + i}`)));
  const start = await one.lastChange();
  sign(one);
  await one.signed();
  expect((await one.logAfter(start, 100)).map(({ change }) => change.kind)).toEqual(["signatures"]);
  expect(await served(two, "h9")).toBe("192.0.2.19,10");
});

it("two nodes that both sign make nothing twice", async () => {
  const start = await one.lastChange();
  sign(one);
  sign(two);
  for (let i = 0; i < 20; i++) await Promise.all([put(`h1 60 A 192.0.2.${i}`), put(`h2 60 A 192.0.2.${i}`, two)]);
  await becomes(one, ["h1", "h2"], "192.0.2.19,192.0.2.19,40");
  await expectOneChain(start);
  expect(await faults()).toEqual([]);
});

it("a node without the key file serves what was signed and refuses to change it, and what it cannot sign another signs", async () => {
  const keyless = await open(newSigner("missing"));
  sign(keyless);
  await put("h0 60 A 192.0.2.7");
  await expect(put("h1 60 A 192.0.2.7", keyless)).rejects.toThrow(StoreBusy);
  await keyless.signed();
  expect(await served(keyless, "h0")).toBe("192.0.2.1,0");
  sign(two);
  await becomes(keyless, ["h0"], "192.0.2.7,1");
});

it("a change of the default TTL also signs what was not signed before it", async () => {
  const signatureOfH0 = async () => {
    const [name] = await one.signedNames(zone, "h", 1);
    return name && [name.owner, ...(signaturesIn(name).get(generatedKey("h0", 1)) ?? [])];
  };
  const before = await signatureOfH0();
  await put("h0 60 A 192.0.2.7");
  const request = { account: zone.account, at: { zone: zone.id }, owners: () => [], actor: "tester", now };
  await writeTo(one, request, ({ zone: { settings } }) => ({
    wanted: undefined,
    settings: { ...settings, ttl: 120 },
    result: undefined,
  }));
  sign(one);
  await one.signed();
  expect(await served(two, "h0")).toBe("192.0.2.7,2");
  const after = await signatureOfH0();
  expect(after).toEqual(["h0", expect.any(String)]);
  expect(after).not.toEqual(before);
  expect(await faults()).toEqual([]);
});

it("a zone that is removed before it was signed leaves nothing behind", async () => {
  sign(two);
  const request = { account: zone.account, at: { number: zone.number }, actor: "tester", now } as const;
  await Promise.all([
    put("h0 60 A 192.0.2.7"),
    put("h1 60 NS elsewhere.example."),
    actOn(one, { ...request, owners: "to-remove" }, () => ({ remove: true, wanted: undefined, result: undefined })),
  ]);
  await two.signed();
  expect(await one.signedNames(zone, undefined, 10)).toEqual([]);
  expect(await faults()).toEqual([]);
});

it("labels of a user are not taken for rows of the signer", async () => {
  const request = { account: zone.account, at: { zone: zone.id }, owners: () => ["h0"], actor: "tester", now };
  const [set] = setsIn("h0 60 A 192.0.2.7");
  const labels = { kind: "signatures", unsigned: "true", through: "1" };
  await put("h1 60 A 192.0.2.7");
  await writeTo(one, request, () => ({ wanted: set ? [{ ...set, labels }] : [], result: undefined }));
  sign(two);
  await becomes(one, ["h0", "h1"], "192.0.2.7,192.0.2.7,2");
  await put("h0 60 A 192.0.2.8");
  await becomes(one, ["h0", "h1"], "192.0.2.8,192.0.2.7,3");
  expect(await faults()).toEqual([]);
});

it("what is written after a zone was unsigned is not served before that", async () => {
  sign(one);
  await put("h1 60 A 192.0.2.7");
  await one.signed();
  await stopSigning();
  await setSettings(one, ({ dnssec: _, ...settings }) => settings);
  await put("h0 60 A 192.0.2.7");
  expect(await served(two, "h0")).toBe("192.0.2.1,1");
  sign(two);
  await becomes(one, ["h0"], "192.0.2.7,3");
  expect(await faults()).toEqual([]);
});

it("names that were signed aside for other settings are not used", async () => {
  const hosts = Array.from({ length: 1_500 }, (_, i) => `g${i} 60 A 192.0.2.1`).join("\n");
  await put(hosts);
  let isHeld = false;
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const signer = newSigner();
  const offThread: Signer["offThread"] = (isLow) => {
    const pool = signer.offThread(isLow);
    const first = isHeld ? undefined : held;
    isHeld = true;
    return { ...pool, sign: (...work) => (first ?? Promise.resolve()).then(() => pool.sign(...work)) };
  };
  const slow = new Proxy(signer, { get: (_, key) => (key === "offThread" ? offThread : signer[key as keyof Signer]) });
  const three = await open(slow);
  sign(three);
  await until(() => isHeld, { what: () => "the follower to sign aside" });
  await setSettings(one, ({ dnssec, ...settings }) => ({
    ...settings,
    ...(dnssec && { dnssec: { ...dnssec, denial: "nsec3" } }),
  }));
  letGo();
  await becomes(one, ["g7"], "192.0.2.1,2");
  const types = (await one.signedNames(zone, undefined, 5_000)).flatMap(({ generated }) =>
    generated.flatMap(({ type }) => (dnssecTypes.rrsig === typeCode(type) ? [] : typeCode(type))),
  );
  expect(types.includes(dnssecTypes.nsec3)).toBe(true);
  expect(types.includes(dnssecTypes.nsec)).toBe(false);
  expect(await faults()).toEqual([]);
});
