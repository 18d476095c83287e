import { createToken, hashSecret } from "../../src/access/secret.ts";
import { wholeAccount } from "../../src/core/may.ts";
import type { RRset } from "../../src/core/records/rrset.ts";
import { readPostgresUrl } from "../../src/lib/postgres/url.ts";
import { createLog } from "../../src/process/log.ts";
import { plainSettings } from "../../src/records/model.ts";
import { newRecordId, newZoneId } from "../../src/records/new-id.ts";
import type { RecordStore } from "../../src/records/store/port.ts";
import { openPostgresStore } from "../../src/records/store/postgres/store.ts";
import type { PostgresServer } from "../../test/rig/postgres.ts";
import { createZoneIn } from "../../test/rig/store/write.ts";
import type { FilledStore, Sample } from "./store.ts";

/** A new database with one zone of this many A records, written by the store. */
export async function fillOneZone(server: PostgresServer, database: string, hosts: number): Promise<FilledStore> {
  return await fill(server, database, async (store, account) => {
    const sets = Array.from({ length: hosts }, (_, i) => aSet(`h${i}`, "A", "192.0.2.1"));
    const zone = await addZone(store, account, "bench.example", sets);
    return sets.map(({ owner, records }) => ({ id: records[0]?.id ?? "", name: owner, zone }));
  });
}

const sampled = 5_000;

/**
 * A new database with this many zones. The store writes one zone; SQL on the server then copies it, with all its rows
 * and one entry per zone in the change log.
 */
export async function fillManyZones(server: PostgresServer, database: string, zones: number): Promise<FilledStore> {
  return await fill(server, database, async (store, account) => {
    await addZone(store, account, "model.example", [aSet("www", "A", "192.0.2.1")]);
    const client = await server.connect(database);
    for (const statement of clones) await client.query(statement, statement.includes("$1") ? [zones] : []);
    await client.query("VACUUM ANALYZE");
    const { rows } = await client.query<Sample>(
      "SELECT r.id, r.owner AS name, z.id AS zone FROM record_ids r JOIN zones z ON z.number = r.zone " +
        `WHERE r.type = 'A' AND r.zone % greatest(1, $1::bigint / ${sampled}) = 0 LIMIT ${sampled}`,
      [zones],
    );
    await client.end();
    return rows;
  });
}

const model = "(SELECT number FROM zones WHERE name = 'model.example')";
const clones = [
  // The generated rows are consistent, so a million foreign keys need not be checked.
  "SET session_replication_role = replica",
  "INSERT INTO zones (id, account, name, settings, serial, record_count, created, modified) " +
    "SELECT md5('zone' || n), account, 'z' || n || '.example', settings, serial, record_count, created, modified " +
    `FROM zones, generate_series(1, $1::bigint) AS n WHERE number = ${model}`,
  "INSERT INTO rrsets (zone, owner, type, ttl, records, marks) " +
    "SELECT z.number, s.owner, s.type, s.ttl, replace(s.records, i.id, md5(z.name || s.type)), s.marks " +
    "FROM zones z, rrsets s JOIN record_ids i ON i.zone = s.zone AND i.owner = s.owner AND i.type = s.type " +
    `WHERE s.zone = ${model} AND z.number <> ${model}`,
  "INSERT INTO record_ids (id, zone, owner, type) SELECT md5(z.name || s.type), z.number, s.owner, s.type " +
    `FROM zones z, rrsets s WHERE s.zone = ${model} AND z.number <> ${model}`,
  "INSERT INTO changes (position, account, zone, zone_name, serial, at, actor, change) " +
    "SELECT (SELECT position FROM log_head) + row_number() OVER (), c.account, z.number, z.name, c.serial, c.at, " +
    "c.actor, c.change FROM zones z, (SELECT * FROM changes ORDER BY position LIMIT 1) AS c " +
    `WHERE z.number <> ${model}`,
  "UPDATE log_head SET position = (SELECT max(position) FROM changes)",
];

type Made = (store: RecordStore, account: number) => Promise<readonly Sample[]>;

async function fill(server: PostgresServer, database: string, make: Made): Promise<FilledStore> {
  await server.createDatabase(database);
  const address = readPostgresUrl(server.url(database), { env: {} });
  if (!address.ok) throw new Error("no address");
  const store = await openPostgresStore({
    address: address.value,
    log: createLog({ format: "json", level: "warn", write: (line) => process.stdout.write(line) }),
  });
  try {
    const { id: account } = await store.ensureAccount("bench", 0);
    const token = createToken();
    await store.addToken({ account, name: "bench", hash: hashSecret(token), scope: wholeAccount, created: 0 });
    return { token, samples: await make(store, account), largeZone: undefined };
  } finally {
    await store.close();
  }
}

async function addZone(store: RecordStore, account: number, name: string, sets: readonly RRset[]): Promise<string> {
  const id = newZoneId();
  const soa = aSet("@", "SOA", "ns1.example.net. hostmaster.example.net. 0 86400 10800 3600000 3600");
  const zone = { account, id, name, settings: plainSettings(60), serial: 2026010100, created: Date.now() };
  await createZoneIn(store, { ...zone, sets: [soa, ...sets] }, "bench");
  return id;
}

const aSet = (owner: string, type: RRset["type"], rdata: string): RRset => {
  const record = { id: newRecordId(), name: owner, value: rdata, rdata, comment: "", created: 0, modified: 0 };
  return { owner, type, ttl: 60, records: [record] };
};
