import { createToken, hashSecret } from "../../src/access/secret.ts";
import { wholeAccount } from "../../src/core/may.ts";
import type { RRset } from "../../src/core/records/rrset.ts";
import { plainSettings } from "../../src/records/model.ts";
import { newRecordId, newZoneId } from "../../src/records/new-id.ts";
import { recordsDatabase } from "../../src/records/open-store.ts";
import { openSqliteStore } from "../../src/records/store/sqlite/store.ts";
import { createZoneIn } from "../../test/rig/store/write.ts";

/** A record to read and write; `name` is relative to its zone. */
export type Sample = { readonly id: string; readonly name: string; readonly zone: string };

export type FilledStore = {
  readonly token: string;
  readonly samples: readonly Sample[];
  /** A zone of 10,000 records, if requested. */
  readonly largeZone: string | undefined;
};

const perZone = 100;
const sampled = 5_000;

/** A store with this many zones of 100 records each, written by the store. */
export async function fillStore(folder: string, zones: number, large = false): Promise<FilledStore> {
  const store = openSqliteStore(recordsDatabase(folder));
  const { id: account } = await store.ensureAccount("bench", 0);
  const token = createToken();
  await store.addToken({ account, name: "bench", hash: hashSecret(token), scope: wholeAccount, created: 0 });
  const samples: Sample[] = [];
  const every = Math.max(1, Math.ceil((zones * perZone) / sampled));
  let made = 0;

  const addZone = async (number: number, size: number): Promise<string> => {
    const [id, name] = [newZoneId(), `z${number}.example`];
    const hosts = Array.from({ length: size - 1 }, (_, i) => aRecord(`h${i}`));
    for (const { owner, records } of hosts) {
      made += 1;
      if (made % every === 0) samples.push({ id: records[0]?.id ?? "", name: owner, zone: id });
    }
    const zone = { account, id, name, settings: plainSettings(60), serial: 2026010100, created: Date.now() };
    await createZoneIn(store, { ...zone, sets: [soa, ...hosts].map(withId) }, "bench");
    return id;
  };

  for (let first = 0; first < zones; first += 200) {
    const group = Array.from({ length: Math.min(200, zones - first) }, (_, i) => addZone(first + i, perZone));
    await Promise.all(group);
  }
  const largeZone = large ? await addZone(zones, 10_000) : undefined;
  store.close();
  return { token, samples, largeZone };
}

const aSet = (owner: string, type: RRset["type"], rdata: string): RRset => {
  const record = { id: newRecordId(), name: owner, value: rdata, rdata, comment: "", created: 0, modified: 0 };
  return { owner, type, ttl: 60, records: [record] };
};
const aRecord = (owner: string): RRset => aSet(owner, "A", "192.0.2.1");
const soa = aSet("@", "SOA", "ns1.example.net. hostmaster.example.net. 0 86400 10800 3600000 3600");

/** The SOA has the same text in all zones, but each zone has its own record. */
const withId = (set: RRset): RRset =>
  set === soa ? { ...soa, records: soa.records.map((record) => ({ ...record, id: newRecordId() })) } : set;
