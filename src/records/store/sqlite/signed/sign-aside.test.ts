import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { writtenSets } from "../../../../../test/rig/core/written-sets.suite.ts";
import { resignZone, signZone } from "../../../../../test/rig/records/sign.ts";
import { createZoneIn, writeTo } from "../../../../../test/rig/store/write.ts";
import { faultsIn } from "../../../../../test/store/store-files.ts";
import { headOfSignature, type SignedName } from "../../../../core/dnssec/signed-name.ts";
import { plainSettings, type Zone } from "../../../model.ts";
import { newRecordId } from "../../../new-id.ts";
import { KeyFileSigner, type Signer } from "../../../signing/signer.ts";
import { migrations } from "../schema.ts";
import { openSqliteStore, type SqliteStore } from "../store.ts";

/** The names of a large zone are written before the transaction that makes it a signed zone. */

const now = Date.now();
let folder: string;
let path: string;
let signer: Signer;
let store: SqliteStore;
let zone: Zone;
let elsewhere: DatabaseSync;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-ahead-"));
  path = join(folder, "records.sqlite");
  signer = new KeyFileSigner(join(folder, "key"));
  store = openSqliteStore(path, migrations, signer);
  elsewhere = new DatabaseSync(path);
  const hosts = Array.from({ length: 1_500 }, (_, i) => `h${i} 60 A 192.0.2.1`);
  zone = await createZone("large.example", hosts.join("\n"));
});
afterEach(() => {
  elsewhere.close();
  store.close();
  rmSync(folder, { recursive: true });
});

async function createZone(name: string, hosts: string): Promise<Zone> {
  const { id: account } = await store.ensureAccount("main", now);
  const text = `@ 60 SOA ns1 hostmaster 1 7200 900 1209600 300\n@ 60 NS ns1\nns1 60 A 192.0.2.1\n${hosts}`;
  const sets = writtenSets(name, text).map((set) => ({
    ...set,
    records: set.records.map((record) => ({ ...record, id: newRecordId() })),
  }));
  const made = await createZoneIn(
    store,
    { account, id: name, name, settings: plainSettings(60), serial: 1, created: now, sets },
    "tester",
  );
  if (typeof made === "string") throw new Error(made);
  return made;
}

const sign = () => signZone({ store, actor: "tester", now }, zone, { algorithm: 15, denial: "nsec" }, signer);

/** As another process sees it: the names are there, but the zone is not signed. */
function isAhead(): boolean {
  const text = "SELECT EXISTS (SELECT 1 FROM signed_names) AND NOT EXISTS (SELECT 1 FROM signing_keys) AS ahead";
  return elsewhere.prepare(text).get()?.ahead === 1;
}

const remove = (at: Zone, owner: string) =>
  writeTo(store, { account: at.account, at: { zone: at.id }, owners: () => [owner], actor: "tester", now }, () => ({
    wanted: [],
    result: undefined,
  }));

const tagsIn = (names: readonly SignedName[]) =>
  new Set(
    names.flatMap(({ generated }) =>
      generated
        .filter(({ type }) => type === "TYPE46")
        .flatMap(({ values }) => values.map((text) => headOfSignature(text).tag)),
    ),
  );

it("lets other writes in while a large zone is signed", async () => {
  const other = await createZone(
    "other.example",
    Array.from({ length: 100 }, (_, i) => `h${i} 60 A 192.0.2.1`).join("\n"),
  );
  let isOver = false;
  const signed = sign().finally(() => {
    isOver = true;
  });
  const writes: Promise<unknown>[] = [];
  while (!isOver) {
    if (isAhead()) writes.push(remove(other, `h${writes.length}`));
    await new Promise(setImmediate);
  }
  await Promise.all(writes);
  expect(await signed).toMatchObject({ ok: true });
  const order = (await store.logAfter(0, 9_999)).map(({ zone: of, change }) => `${of} ${change.kind}`);
  const before = order.slice(0, order.indexOf(`${zone.number} signatures`));
  expect(before.filter((row) => row === `${other.number} delete`).length).toBeGreaterThan(1);
});

it("leaves nothing that counts if it is interrupted, and signs the changed zone afterwards", async () => {
  const interrupted = sign().catch((error: Error) => error.message);
  while (!isAhead()) await new Promise(setImmediate);
  store.close();
  expect(await interrupted).toBe("the store is closed");

  store = openSqliteStore(path, migrations, signer);
  expect(isAhead()).toBe(true);
  expect(await faultsIn(path)).toEqual([]);
  expect(await store.signedZones(0, 10)).toEqual([]);
  expect(await store.expiringNames(now + 30 * 86_400_000, 10)).toEqual([]);
  await remove(zone, "h0");

  const again = await sign();
  if (!again.ok) throw new Error(again.faults[0]?.message);
  const names = await store.signedNames(zone, undefined, 2_000);
  expect(names).toHaveLength(1_501);
  expect(tagsIn(names)).toEqual(new Set(again.value.keys.map(({ tag }) => tag)));
  expect(await faultsIn(path)).toEqual([]);
});

it.each(["nothing", "1,500 hosts"])(
  "what the signer has made can be dropped and made again, in a zone with %s more",
  async (more) => {
    const at = more === "nothing" ? await createZone("small.example", "") : zone;
    const signed = await signZone({ store, actor: "tester", now }, at, { algorithm: 15, denial: "nsec3" }, signer);
    if (!signed.ok) throw new Error(signed.faults[0]?.message);
    const inShort = async () =>
      (await store.signedNames(at, undefined, 2_000)).map(({ owner, chainKey, types, generated }) => ({
        ...{ owner, chainKey, types },
        sets: generated.map((set) => [set.owner, set.type, set.ttl, set.values.map((value) => value.slice(0, 12))]),
      }));
    const before = await inShort();
    elsewhere.exec(
      `DELETE FROM signed_names WHERE zone = (SELECT names_at FROM zones WHERE number = ${at.number}) AND owner <> '@'`,
    );
    expect(await inShort()).not.toEqual(before);
    await resignZone({ store, actor: "tester", now }, at);
    expect(await inShort()).toEqual(before);
    while (await store.removeLeftovers(now));
    expect(await inShort()).toEqual(before);
    expect(await faultsIn(path)).toEqual([]);
  },
);
