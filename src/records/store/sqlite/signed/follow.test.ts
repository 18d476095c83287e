import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { writtenSets } from "../../../../../test/rig/core/written-sets.suite.ts";
import { signZone } from "../../../../../test/rig/records/sign.ts";
import { actOn, createZoneIn, writeTo } from "../../../../../test/rig/store/write.ts";
import { until } from "../../../../../test/rig/until.ts";
import { faultsIn } from "../../../../../test/store/store-files.ts";
import type { ServedSet } from "../../../../core/records/zone-view.ts";
import { createLog } from "../../../../process/log.ts";
import { plainSettings, type Zone } from "../../../model.ts";
import { newRecordId } from "../../../new-id.ts";
import { readServedZone } from "../../../queries/read-zone.ts";
import { KeyFileSigner, type Signer } from "../../../signing/signer.ts";
import { migrations } from "../schema.ts";
import { openSqliteStore, type SqliteStore } from "../store.ts";

const now = Date.now();
let folder: string;
let store: SqliteStore;
let zone: Zone;
/** The types of sets that were signed, as numbers. */
let covered: number[] = [];
/** Signing fails. */
let isBroken = false;
/** How often it has failed. */
let failures = 0;
let logged = "";
const log = createLog({
  format: "text",
  write: (line) => {
    logged += line;
  },
});

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-follow-"));
  store = open();
  const { id: account } = await store.ensureAccount("main", now);
  const hosts = Array.from({ length: 10 }, (_, i) => `h${i} 60 A 192.0.2.1`).join("\n");
  const sets = setsIn(`@ 60 SOA ns1 hostmaster 1 7200 900 1209600 300\n@ 60 NS ns1\nns1 60 A 192.0.2.1\n${hosts}`);
  const name = "z.example";
  const settings = plainSettings(60);
  const made = await createZoneIn(
    store,
    { account, id: name, name, settings, serial: 1, created: now, sets },
    "tester",
  );
  if (typeof made === "string") throw new Error(made);
  await signZone({ store, actor: "tester", now }, made, { algorithm: 15, denial: "nsec" }, newSigner());
  zone = (await store.zone(account, name)) ?? made;
  [covered, isBroken, failures, logged] = [[], false, 0, ""];
});
afterEach(() => {
  isBroken = false;
  store.close();
  rmSync(folder, { recursive: true });
});

const newSigner = () => new KeyFileSigner(join(folder, "key"));

function open(): SqliteStore {
  const signer = newSigner();
  const noting = (work: Parameters<Signer["signNow"]>[1]) => {
    failures += isBroken ? 1 : 0;
    if (isBroken) throw new Error("no signatures");
    covered.push(...work.map(({ covers }) => covers));
  };
  const signNow: Signer["signNow"] = (name, work, at) => {
    noting(work);
    return signer.signNow(name, work, at);
  };
  const offThread: Signer["offThread"] = () => {
    const pool = signer.offThread(false);
    const sign: typeof pool.sign = async (name, work, at) => {
      noting(work);
      return await pool.sign(name, work, at);
    };
    return { ...pool, sign };
  };
  const followed: Partial<Signer> = { signNow, offThread };
  const patched = new Proxy(signer, { get: (_, key) => followed[key as keyof Signer] ?? signer[key as keyof Signer] });
  return openSqliteStore(join(folder, "records.sqlite"), migrations, patched, undefined, log);
}

const setsIn = (text: string) =>
  writtenSets("z.example", text).map((set) => ({
    ...set,
    records: set.records.map((record) => ({ ...record, id: newRecordId() })),
  }));

const put = (line: string, to = store) => {
  const wanted = setsIn(line);
  const owners = wanted.map(({ owner }) => owner);
  const request = { account: zone.account, at: { zone: zone.id }, owners: () => owners, actor: "tester", now };
  return writeTo(to, request, () => ({ wanted, result: undefined }));
};

const kindsSince = async (start: number) =>
  (await store.logAfter(start, 1_000)).map(({ serial, change }) => [serial - zone.serial, change.kind]);

/** What the nameserver would answer for some owners: address and serial. */
async function served(...owners: readonly string[]): Promise<readonly string[]> {
  let sets: ServedSet[] = [];
  const current = (await store.zone(zone.account, zone.id)) ?? zone;
  await readServedZone(
    store,
    current,
    async () => undefined,
    () => {
      sets = [];
      return (part) => void sets.push(...part);
    },
  );
  const last = (owner: string, type: string) => sets.findLast((set) => set.owner === owner && set.type === type);
  const serial = Number(last("@", "SOA")?.records[0]?.rdata.split(" ")[2]) - zone.serial;
  return [...owners.map((owner) => last(owner, "A")?.records[0]?.rdata ?? "none"), `${serial}`];
}

it("signs the SOA record once for writes that come together, and a set that changes twice once", async () => {
  const start = await store.lastChange();
  await Promise.all([put("h0 60 A 192.0.2.7"), put("h1 60 A 192.0.2.7"), put("h0 60 A 192.0.2.8")]);
  await store.signed();
  expect(covered.toSorted((a, b) => a - b)).toEqual([1, 1, 6]);
  expect(await kindsSince(start)).toEqual([
    [1, "replace"],
    [2, "replace"],
    [3, "replace"],
    [3, "signatures"],
  ]);
  expect(await faultsIn(join(folder, "records.sqlite"))).toEqual([]);
});

it("what is not signed is not served, and signed by the next process", async () => {
  isBroken = true;
  await put("h0 60 A 192.0.2.7");
  await put("new 60 A 192.0.2.7");
  await store.signed();
  expect(await served("h0", "new", "h1")).toEqual(["192.0.2.1", "none", "192.0.2.1", "0"]);
  expect(await faultsIn(join(folder, "records.sqlite"))).toEqual([]);
  store.close();
  isBroken = false;
  store = open();
  await until(async () => (await served("h0")).join() === "192.0.2.7,2", { what: () => "the zone to be signed" });
  expect(await served("new")).toEqual(["192.0.2.7", "2"]);
  expect(await faultsIn(join(folder, "records.sqlite"))).toEqual([]);
});

it("logs a zone that cannot be signed, and why, once, and again when it is over", async () => {
  isBroken = true;
  await put("h0 60 A 192.0.2.7");
  await until(() => failures > 1, { what: () => "a second try" });
  isBroken = false;
  await until(async () => (await served("h0")).join() === "192.0.2.7,1", { what: () => "the zone to be signed" });
  await until(() => logged.includes("signed again"), { what: () => "the end in the log" });
  expect(logged.trim().split("\n")).toEqual([
    expect.stringMatching(/ error .*cannot be signed.*zone=z\.example.*no signatures/),
    expect.stringMatching(/ info .*signed again.*zone=z\.example/),
  ]);
});

it("signs what came before the zone was deleted only if it comes in time, and fails for nobody", async () => {
  const request = { account: zone.account, at: { number: zone.number }, actor: "tester", now } as const;
  await Promise.all([
    put("h0 60 A 192.0.2.7"),
    put("h1 60 NS elsewhere.example."),
    actOn(store, { ...request, owners: "to-remove" }, () => ({ remove: true, wanted: undefined, result: undefined })),
  ]);
  await store.signed();
  expect(await store.signedNames(zone, undefined, 10)).toEqual([]);
  expect(await faultsIn(join(folder, "records.sqlite"))).toEqual([]);
});

it("two processes sign nothing twice", async () => {
  const other = open();
  const start = await store.lastChange();
  for (let i = 0; i < 20; i++) await Promise.all([put(`h1 60 A 192.0.2.${i}`), put(`h2 60 A 192.0.2.${i}`, other)]);
  other.close();
  await until(async () => (await served("h1", "h2")).join() === "192.0.2.19,192.0.2.19,40", {
    what: () => "both to be signed",
  });
  const rows = (await store.logAfter(start, 1_000)).flatMap(({ change }) =>
    change.kind === "signatures" ? [change] : [],
  );
  expect(rows.slice(1).map(({ after }) => after)).toEqual(rows.slice(0, -1).map(({ through }) => through));
  expect(await faultsIn(join(folder, "records.sqlite"))).toEqual([]);
});

it("a zone that was deleted meanwhile is not served with the sets of the zone above it", async () => {
  const sets = setsIn("@ 60 SOA ns1 hostmaster 1 7200 900 1209600 300\n@ 60 NS ns1\nh0 60 A 192.0.2.99");
  const above = { account: zone.account, id: "above", name: "example", settings: plainSettings(60), serial: 1 };
  expect(await createZoneIn(store, { ...above, created: now, sets }, "tester")).toMatchObject({ name: "example" });
  const request = { account: zone.account, at: { number: zone.number }, actor: "tester", now } as const;
  await actOn(store, { ...request, owners: "to-remove" }, () => ({
    ...{ remove: true, wanted: undefined, result: undefined },
  }));
  expect(await served("h0")).toEqual(["none", "NaN"]);
});
