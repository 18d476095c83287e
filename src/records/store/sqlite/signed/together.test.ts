import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { writtenSets } from "../../../../../test/rig/core/written-sets.suite.ts";
import { signZone } from "../../../../../test/rig/records/sign.ts";
import { actOn, createZoneIn, writeTo } from "../../../../../test/rig/store/write.ts";
import { faultsIn } from "../../../../../test/store/store-files.ts";
import { plainSettings, type Zone } from "../../../model.ts";
import { newRecordId } from "../../../new-id.ts";
import { KeyFileSigner, type Signer } from "../../../signing/signer.ts";
import { migrations } from "../schema.ts";
import { openSqliteStore, type SqliteStore } from "../store.ts";

const now = Date.now();
let folder: string;
let store: SqliteStore;
let zone: Zone;
/** The types of sets that were signed, as numbers. */
let covered: number[] = [];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-together-"));
  const signer: Signer = new KeyFileSigner(join(folder, "key"));
  const signNow: Signer["signNow"] = (name, work, at) => {
    covered.push(...work.map(({ covers }) => covers));
    return signer.signNow(name, work, at);
  };
  store = openSqliteStore(join(folder, "records.sqlite"), migrations, { ...signer, signNow });
  const { id: account } = await store.ensureAccount("main", now);
  const name = "z.example";
  const text = `@ 60 SOA ns1 hostmaster 1 7200 900 1209600 300\n@ 60 NS ns1\nns1 60 A 192.0.2.1\n${hosts(10)}`;
  const made = await createZoneIn(
    store,
    { account, id: name, name, settings: plainSettings(60), serial: 1, created: now, sets: setsIn(text) },
    "tester",
  );
  if (typeof made === "string") throw new Error(made);
  await signZone({ store, actor: "tester", now }, made, { algorithm: 15, denial: "nsec" }, signer);
  zone = (await store.zone(account, name)) ?? made;
  covered = [];
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

const hosts = (count: number) => Array.from({ length: count }, (_, i) => `h${i} 60 A 192.0.2.1`).join("\n");

const setsIn = (text: string) =>
  writtenSets("z.example", text).map((set) => ({
    ...set,
    records: set.records.map((record) => ({ ...record, id: newRecordId() })),
  }));

const put = (...lines: string[]) => {
  const wanted = setsIn(lines.join("\n"));
  const owners = wanted.map(({ owner }) => owner);
  return writeTo(
    store,
    { account: zone.account, at: { zone: zone.id }, owners: () => owners, actor: "tester", now },
    () => ({ wanted, result: undefined }),
  );
};

const logged = async (start: number) =>
  (await store.logAfter(start, 1_000)).map(({ serial, change }) => [serial - zone.serial, change.kind]);

it("signs the SOA record once for all writes of a transaction, and a set that changes twice once", async () => {
  const start = await store.lastChange();
  await Promise.all([put("h0 60 A 192.0.2.7"), put("h1 60 A 192.0.2.7"), put("h0 60 A 192.0.2.8")]);
  expect(covered.toSorted((a, b) => a - b)).toEqual([1, 1, 6]);
  expect(await logged(start)).toEqual([
    [1, "replace"],
    [2, "replace"],
    [3, "replace"],
    [3, "signatures"],
  ]);
  expect(await faultsIn(join(folder, "records.sqlite"))).toEqual([]);
});

it("signs what came before a write that has to be planned, and before the zone is deleted", async () => {
  const start = await store.lastChange();
  const request = {
    account: zone.account,
    at: { number: zone.number },
    actor: "tester",
    now,
    owners: "to-remove",
  } as const;
  await Promise.all([
    put("h0 60 A 192.0.2.7"),
    put("h1 60 NS elsewhere.example."),
    put("h2 60 A 192.0.2.7"),
    actOn(store, request, () => ({ remove: true, wanted: undefined, result: undefined })),
  ]);
  expect((await logged(start)).slice(0, 7)).toEqual([
    [1, "replace"],
    [1, "signatures"],
    [2, expect.stringMatching(/create|delete/)],
    [2, expect.stringMatching(/create|delete/)],
    [2, "signatures"],
    [3, "replace"],
    [3, "signatures"],
  ]);
  expect(await store.signedNames(zone, undefined, 10)).toEqual([]);
  expect(await faultsIn(join(folder, "records.sqlite"))).toEqual([]);
});

it("a write that fails does not take the others with it", async () => {
  const failing = writeTo(
    store,
    { account: zone.account, at: { zone: zone.id }, owners: () => ["h1"], actor: "tester", now },
    () => {
      throw new Error("no");
    },
  );
  const all = await Promise.allSettled([put("h0 60 A 192.0.2.7"), failing, put("h2 60 A 192.0.2.7")]);
  expect(all.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(await faultsIn(join(folder, "records.sqlite"))).toEqual([]);
});
