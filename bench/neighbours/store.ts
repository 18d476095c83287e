import { hashSecret } from "../../src/access/secret.ts";
import { createSessions } from "../../src/access/session.ts";
import { type Scope, wholeAccount } from "../../src/core/may.ts";
import type { RRset } from "../../src/core/records/rrset.ts";
import { noLog } from "../../src/process/log.ts";
import { plainSettings, type ZoneSettings } from "../../src/records/model.ts";
import { newRecordId, newZoneId } from "../../src/records/new-id.ts";
import { openStore, recordsDatabase, signingKeyFile } from "../../src/records/open-store.ts";
import { KeyFileSigner } from "../../src/records/signing/signer.ts";
import type { RecordStore } from "../../src/records/store/port.ts";
import { migrations } from "../../src/records/store/sqlite/schema.ts";
import { openSqliteStore } from "../../src/records/store/sqlite/store.ts";
import { signZone } from "../../test/rig/records/sign.ts";
import { createZoneIn } from "../../test/rig/store/write.ts";

/** A store with a small account (the victim), a large one that fills the log, and a hostile one. */
export type Street = {
  readonly victim: { readonly token: string; readonly zone: string; readonly record: string };
  readonly hostile: {
    /** Can write everything in its account. */
    readonly writer: string;
    /** Can read one set of one zone. */
    readonly reader: string;
    /** The secret of a session in the console. */
    readonly session: string;
    /** A zone of 50,000 sets. */
    readonly largeZone: string;
    /** Ids of small zones; the last two are only for the row that lets them grow. */
    readonly zones: readonly string[];
  };
};

export const largeZoneName = "large.example";
const largeSize = 50_000;
export const signedZoneName = (i: number): string => `signed-${i}.example`;
const signedSize = 100_000;
/** Of the hostile account; its provider cannot be reached. */
export const publishedZoneName = "published.example";
const publishedSize = 5_000;
/** Zones of other accounts, so that the log has 350,000 changes. */
const othersZones = 6;
const labelledZones = 3_000;

export async function fillStreet(folder: string): Promise<Street> {
  const signer = new KeyFileSigner(signingKeyFile(folder));
  const store = openSqliteStore(recordsDatabase(folder), migrations, signer);
  const [victim, others, hostile] = await Promise.all(
    ["victim", "others", "hostile"].map((name) => store.ensureAccount(name, 1)),
  );
  if (victim === undefined || others === undefined || hostile === undefined) throw new Error("no accounts");
  const own = await addZone(store, victim.id, "victim.example", ["www"]);
  for (let i = 0; i < othersZones; i++) await addZone(store, others.id, `others-${i}.example`, hosts(largeSize));
  const large = await addZone(store, hostile.id, largeZoneName, hosts(largeSize));
  const zones = [];
  for (let i = 0; i < 6; i++) zones.push((await addZone(store, hostile.id, `small-${i}.example`, ["www"])).id);
  for (let from = 0; from < labelledZones; from += 500) {
    const some = Array.from({ length: 500 }, (_, i) =>
      addZone(store, hostile.id, `l${from + i}.example`, [], { labels }),
    );
    await Promise.all(some);
  }
  for (const i of [0, 1]) {
    await addZone(store, hostile.id, signedZoneName(i), hosts(signedSize));
    const zone = await store.zoneBy(hostile.id, { name: signedZoneName(i) });
    const by = { store, actor: "bench", now: Date.now() };
    if (zone) await signZone(by, zone, { algorithm: 13, denial: "nsec" }, signer);
  }
  await addPublished(store, hostile.id, signer);
  const street = {
    victim: { token: await addToken(store, victim.id, wholeAccount), zone: own.id, record: own.record },
    hostile: {
      writer: await addToken(store, hostile.id, wholeAccount),
      session: await signIn(folder, hostile.id),
      reader: await addToken(store, hostile.id, {
        ...{ access: "read", zones: ["small-0.example"], sets: [{ owner: "www" }] },
      }),
      largeZone: large.id,
      zones,
    },
  };
  store.close();
  return street;
}

async function addPublished(store: RecordStore, account: number, signer: KeyFileSigner): Promise<void> {
  const [kind, url] = ["hetzner", "http://127.0.0.1:9"];
  const sealed = signer.encryptText(`provider ${kind} ${url}`, "token");
  const provider = await store.addProvider({ account, name: kind, kind, url, ca: undefined, sealed, created: 1 });
  if (provider === "name-taken") throw new Error("the provider is there already");
  const rules = { lowestTtl: 60, highestTtl: 86_400, mostValues: 50 };
  const published = { provider: provider.id, name: kind, service: kind, drift: "ask", readEvery: 900, rules } as const;
  const owners = hosts(publishedSize);
  await addZone(store, account, publishedZoneName, owners, { published });
  const zone = await store.zoneBy(account, { name: publishedZoneName });
  if (zone === undefined) throw new Error("no published zone");
  await store.beginPublishing(zone.number, { through: 0, waiting: 0, ttl: 60, readAt: 1, trouble: undefined });
  const held = { ttl: 60, values: ["192.0.2.1"] };
  await store.putPublishedSets(
    zone.number,
    owners.map((owner) => ({ owner, type: "A", held, at: 1 })),
  );
}

const labels = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`label-${i}`, `value-${i}`]));
const hosts = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `h${i}`);

async function addZone(
  store: RecordStore,
  account: number,
  name: string,
  owners: readonly string[],
  more: Partial<ZoneSettings> = {},
) {
  const soa = aSet("@", "SOA", "ns1.example.net. hostmaster.example.net. 0 86400 10800 3600000 3600");
  const sets = [soa, aSet("@", "NS", "ns1.example.net."), ...owners.map((owner) => aSet(owner, "A", "192.0.2.1"))];
  const [id, settings] = [newZoneId(), { ...plainSettings(60), ...more }];
  await createZoneIn(store, { account, id, name, settings, serial: 2026010100, created: Date.now(), sets }, "bench");
  return { id, record: sets.at(-1)?.records[0]?.id ?? "" };
}

async function addToken(store: RecordStore, account: number, scope: Scope): Promise<string> {
  const secret = `bench-${account}-${scope.access}`;
  await store.addToken({ account, name: secret, hash: hashSecret(secret), scope, created: 1 });
  return secret;
}

async function signIn(folder: string, account: number): Promise<string> {
  const { console: opened, close } = await openStore({ kind: "sqlite", path: recordsDatabase(folder) }, noLog);
  const by = { from: "::1", agent: "bench" };
  const secret = await createSessions(opened.sessions, Date.now).begin(String(account), by);
  await close();
  return secret;
}

const aSet = (owner: string, type: RRset["type"], rdata: string): RRset => {
  const record = { id: newRecordId(), name: owner, value: rdata, rdata, comment: "", created: 0, modified: 0 };
  return { owner, type, ttl: 60, records: [record] };
};
