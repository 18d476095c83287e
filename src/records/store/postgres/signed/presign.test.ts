import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { writtenSets } from "../../../../../test/rig/core/written-sets.suite.ts";
import { realPause } from "../../../../../test/rig/real-pause.ts";
import { addressOf, type PostgresRig, startPostgresRig } from "../../../../../test/rig/records/postgres.ts";
import { signZone } from "../../../../../test/rig/records/sign.ts";
import { createZoneIn, writeTo } from "../../../../../test/rig/store/write.ts";
import { until } from "../../../../../test/rig/until.ts";
import { openPostgres, type Postgres } from "../../../../lib/postgres/open.ts";
import { noLog } from "../../../../process/log.ts";
import { largeZone, plainSettings, type Zone } from "../../../model.ts";
import { newRecordId } from "../../../new-id.ts";
import { KeyFileSigner } from "../../../signing/signer.ts";
import { createPresignStore } from "./presign-store.ts";

let rig: PostgresRig;
beforeAll(async () => {
  rig = await startPostgresRig();
});
afterAll(() => rig.stop());

it("presigned names are known to be stored although the connection was lost during the commit", async () => {
  const url = await rig.preparedUrl();
  const store = await rig.open(url);
  const postgres = openPostgres(addressOf(url), noLog);
  // Everything is committed, but the answer of the last statement never arrives.
  const transact: Postgres["transact"] = async (work) => ({ ...(await postgres.transact(work)), last: undefined });
  const presignStore = createPresignStore({ postgres: { ...postgres, read: postgres.read, transact }, reads: store });
  const number = await presignStore.newNumber();
  const after = { owner: "@", chainKey: "", expires: 0, children: 0, types: [], generated: [] };
  expect(await presignStore.putNames(number, [{ before: undefined, after }])).toBe(true);
  await presignStore.abandon(number);
  expect(await presignStore.putNames(number, [{ before: undefined, after }])).toBe(false);
  await postgres.close();
  await store.close();
});

it("presigned names stay, and a write that waits for the same lock is signed too", async () => {
  const signer = new KeyFileSigner(join(mkdtempSync(join(tmpdir(), "moor-ahead-")), "key"));
  const url = await rig.preparedUrl();
  const store = await rig.open(url, { signer });
  const { id: account } = await store.ensureAccount("main", 1);
  const hosts = Array.from({ length: largeZone + 1 }, (_, i) => `h${i} - A 192.0.2.1`).join("\n");
  const top = "@ - SOA ns1 hostmaster 1 7200 900 1209600 300\n@ - NS ns1";
  const sets = writtenSets("large.example", `${top}\n${hosts}`).map((set) => ({
    ...set,
    records: set.records.map((record) => ({ ...record, id: newRecordId() })),
  }));
  const identity = { account, id: "large", name: "large.example", serial: 1, created: 1 };
  const zone = (await createZoneIn(store, { ...identity, settings: plainSettings(60), sets }, "tester")) as Zone;

  const signed = signZone({ store, now: Date.now() }, zone, { algorithm: 15, denial: "nsec" }, signer);
  const client = await rig.server.connect(new URL(url).pathname.slice(1));
  await until(async () => (await client.query("SELECT FROM leftovers WHERE kind = 'ahead'")).rows.length === 1);
  await client.query("BEGIN; SELECT FROM zones FOR UPDATE");
  await until(() => store.counters.waiting === 1);
  const request = { account, at: { zone: zone.id }, actor: "tester", now: Date.now(), owners: () => ["h0"] };
  const written = writeTo(store, request, () => ({ wanted: [], result: undefined }));
  await realPause(600, "the write joins those that wait for the lock of its zone, which nothing shows");
  await client.query("ROLLBACK");
  await client.end();
  await Promise.all([signed, written]);

  while (await store.removeLeftovers(Date.now()));
  const names = await store.signedNames(zone, undefined, 2 * largeZone);
  expect(names.map(({ owner }) => owner).toSorted()).toEqual(["@", ...hostNames()].toSorted());
  await store.close();
});

const hostNames = () => Array.from({ length: largeZone }, (_, i) => `h${i + 1}`);
