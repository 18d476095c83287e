import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writtenSets } from "../../../../test/rig/core/written-sets.suite.ts";
import { aSet } from "../../../../test/rig/records/a-set.ts";
import { type PostgresRig, startPostgresRig } from "../../../../test/rig/records/postgres.ts";
import { signZone } from "../../../../test/rig/records/sign.ts";
import { describeActions } from "../../../../test/rig/store/actions.suite.ts";
import { describeFront } from "../../../../test/rig/store/front.suite.ts";
import { describeHistory } from "../../../../test/rig/store/history.suite.ts";
import { describeManyWrites } from "../../../../test/rig/store/many.suite.ts";
import { describeNeighbours } from "../../../../test/rig/store/neighbours.suite.ts";
import { describeRecordIds } from "../../../../test/rig/store/record-ids.suite.ts";
import { describeSignIn } from "../../../../test/rig/store/sign-in.suite.ts";
import { describeSigning } from "../../../../test/rig/store/signing.suite.ts";
import { describeStore } from "../../../../test/rig/store/store.suite.ts";
import { describeTokens } from "../../../../test/rig/store/tokens.suite.ts";
import { describeTransferKeys } from "../../../../test/rig/store/transfer.suite.ts";
import { createZoneIn, writeTo } from "../../../../test/rig/store/write.ts";
import { wholeAccount } from "../../../core/may.ts";
import { plainSettings } from "../../model.ts";
import { createRecordService } from "../../service.ts";
import { KeyFileSigner, type Signer } from "../../signing/signer.ts";

let rig: PostgresRig;
beforeAll(async () => {
  rig = await startPostgresRig();
});
afterAll(() => rig.stop());

const open = () => rig.open();
const emptied = () => rig.emptied();
describeTokens("PostgreSQL", open);
describeSignIn("PostgreSQL", open);
describeManyWrites("PostgreSQL", open);
describeStore("PostgreSQL", emptied);
describeNeighbours("PostgreSQL", emptied);
describeTransferKeys("PostgreSQL", emptied);
describeFront("PostgreSQL", emptied);
describeActions("PostgreSQL", emptied);
describeHistory("PostgreSQL", emptied);
describeRecordIds("PostgreSQL", emptied);
const openSigning = (signer: Signer) => rig.open(undefined, { signer });
describeSigning("PostgreSQL", "nsec3", openSigning);

describe("a PostgreSQL database", () => {
  it("replaces as many records as fit into one request", async () => {
    const store = await rig.open();
    const actor = { account: (await store.ensureAccount("main", 1)).id, label: "tester", scope: wholeAccount };
    const service = createRecordService({ store, now: Date.now, nameservers: ["ns.example.net"] });
    const made = await service.createZone(actor, { name: "many.example", ttl: 60 });
    if (made.kind !== "done") throw new Error("no zone");
    const old = Array.from({ length: 5_500 }, (_, i) => aSet(`h${i}`, "192.0.2.1"));
    const request = { account: actor.account, at: { zone: made.zone.id }, actor: "tester", now: 1 };
    await writeTo(store, { ...request, owners: "all" }, ({ sets }) => ({ wanted: [...sets, ...old], result: null }));
    const [type, value] = ["A", "192.0.2.2"] as const;
    const changed = old.map(({ owner: name, records: [record] }) => ({
      id: record?.id ?? "",
      zoneId: made.zone.id,
      draft: { type, name, value, text: value, ttl: 60 },
    }));
    const replaced = await service.replaceRecords(actor, changed);
    expect(replaced.filter((each) => each.kind === "done")).toHaveLength(5_500);
    await store.close();
  });

  it("lists the records of more zones than one query can name", async () => {
    const store = await rig.open();
    const { id: account } = await store.ensureAccount("main", 1);
    const zone = (i: number) => ({
      account,
      id: `z${i}`,
      name: `z${i}.example`,
      settings: plainSettings(60),
      serial: 1,
    });
    const record = { name: "www", value: "192.0.2.1", rdata: "192.0.2.1", comment: "", created: 1, modified: 1 };
    const sets = (i: number) => [
      { owner: "www", type: "A" as const, ttl: null, records: [{ ...record, id: `r${i}` }] },
    ];
    const many = Array.from({ length: 1_200 }, (_, i) => ({ ...zone(i), created: 1, sets: sets(i) }));
    await Promise.all(many.map((each) => createZoneIn(store, each, "tester")));
    const service = createRecordService({ store, now: Date.now, nameservers: ["ns.example.net"] });
    for (const scope of [wholeAccount, { ...wholeAccount, sets: [{ owner: "www" }, { owner: "mail" }] }]) {
      const listed = await service.records({ account, label: "tester", scope }, {});
      expect(listed.kind === "done" && listed.records.length).toBe(1_200);
    }
    await store.close();
  });

  it("deletes signed names that are left over from a copied SQLite file when it signs their zone", async () => {
    const url = await rig.preparedUrl();
    const folder = mkdtempSync(join(tmpdir(), "moor-left-"));
    const signer = new KeyFileSigner(join(folder, "key"));
    const store = await rig.open(url, { signer });
    const { id: account } = await store.ensureAccount("main", 1);
    const text = "@ 60 SOA ns1 hostmaster 1 7200 900 1209600 300\n@ 60 NS ns1\nns1 60 A 192.0.2.1";
    const sets = writtenSets("left.example", text).map((set, i) => ({
      ...set,
      records: set.records.map((record) => ({ ...record, id: `r${i}` })),
    }));
    const newZone = {
      account,
      id: "z",
      name: "left.example",
      settings: plainSettings(60),
      serial: 1,
      created: 1,
      sets,
    };
    const zone = await createZoneIn(store, newZone, "tester");
    if (typeof zone === "string") throw new Error(zone);
    const client = await rig.server.connect(new URL(url).pathname.slice(1));
    const row = "(zone, owner, link, expires, children, types, made) VALUES ($1, $2, $2, 1, 0, '[1]', '[]')";
    for (const owner of ["gone", "ns1"]) await client.query(`INSERT INTO signed_names ${row}`, [zone.number, owner]);
    await client.end();
    expect(await store.expiringNames(Date.now(), 10)).toEqual([]);
    const by = { store, actor: "tester", now: Date.now() };
    expect(await signZone(by, zone, { algorithm: 13, denial: "nsec" }, signer)).toMatchObject({ ok: true });
    const names = await store.signedNames(zone, undefined, 10);
    expect(names.map(({ owner, generated }) => [owner, generated.length > 0])).toEqual([
      ["@", true],
      ["ns1", true],
    ]);
    await store.close();
    rmSync(folder, { recursive: true });
  });

  it("finishes reads that started right before it was closed", async () => {
    const store = await rig.open();
    await store.ensureAccount("main", 1);
    const asked = [store.ensureAccount("other", 1), store.tokens()] as const;
    await store.close();
    expect(await Promise.all(asked)).toEqual([{ id: expect.any(Number), name: "other" }, []]);
  });

  it("still has its content when it is opened again, including pending writes", async () => {
    const url = await rig.preparedUrl();
    const first = await rig.open(url);
    const account = await first.ensureAccount("main", 1);
    const token = { account: account.id, name: "t", hash: "h", scope: wholeAccount, created: 1 };
    first.noteUse((await first.addToken(token)).id, 7);
    const pending = first.ensureAccount("other", 1);
    await first.close();
    expect(await pending).toMatchObject({ name: "other" });
    const second = await rig.open(url);
    expect(await second.tokens()).toMatchObject([{ name: "t", uses: 1, lastUsed: 7 }]);
    await second.close();
  });
});
