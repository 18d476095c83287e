import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createToken, hashSecret } from "../../src/access/secret.ts";
import { wholeAccount } from "../../src/core/may.ts";
import { ensureCertificate } from "../../src/lib/tls/certificates.ts";
import { recordsDatabase } from "../../src/records/open-store.ts";
import { createRecordService } from "../../src/records/service.ts";
import { openSqliteStore } from "../../src/records/store/sqlite/store.ts";
import type { Table } from "../table.ts";
import { besideHelloHeads, type Call, measureBesideHello } from "./beside-hello.ts";

export async function benchRecords(): Promise<readonly Table[]> {
  const folder = await mkdtemp(join(tmpdir(), "moor-bench-"));
  await ensureCertificate(folder, [], new Date());
  const fixture = await fill(folder);
  const rows = [];
  for (const transport of ["http", "https"] as const)
    rows.push(...(await measureBesideHello(folder, transport, callsOf(fixture))));
  return [
    {
      title: "One record, 32 connections",
      how: "npm run bench records",
      heads: besideHelloHeads,
      rows,
    },
  ];
}

type Fixture = { readonly token: string; readonly zone: string; readonly records: readonly string[] };

async function fill(folder: string): Promise<Fixture> {
  const store = openSqliteStore(recordsDatabase(folder));
  const account = await store.ensureAccount("bench", Date.now());
  const token = createToken();
  await store.addToken({
    account: account.id,
    name: "bench",
    hash: hashSecret(token),
    scope: wholeAccount,
    created: 0,
  });
  const service = createRecordService({ store, now: Date.now, nameservers: ["ns1.example.net"] });
  const actor = { account: account.id, label: "bench", scope: wholeAccount };
  const made = await service.createZone(actor, { name: "bench.example", ttl: 60 });
  if (made.kind !== "done") throw new Error("no zone");
  const create = async (i: number) => {
    const draft = { type: "A", name: `h${i}`, value: "192.0.2.1", text: "192.0.2.1", ttl: 60 } as const;
    const record = await service.createRecord(actor, made.zone.id, draft);
    if (record.kind !== "done") throw new Error("no record");
    return record.recordInZone.record.id;
  };
  const records = await Promise.all(Array.from({ length: 1000 }, (_, i) => create(i)));
  store.close();
  return { token, zone: made.zone.id, records };
}

const callsOf = (fixture: Fixture): readonly Call[] => [
  { name: "GET one record", script: getOne(fixture), target: "50 %" },
  { name: "PUT one record, synced", script: putOne(fixture), target: "35 %, under 15 ms" },
];

const headers = ({ token }: Fixture) => `["Auth-API-Token"]="${token}", ["Content-Type"]="application/json"`;
const recordList = ({ records }: Fixture) => `local records = {${records.map((id) => `"${id}"`).join(",")}}`;

const getOne = (fixture: Fixture) => `
${recordList(fixture)}
local n = 0
request = function()
  n = n + 1
  return wrk.format("GET", "/api/v1/records/" .. records[n % #records + 1], {${headers(fixture)}})
end`;

/** Every request changes its record: the address counts up. */
const putOne = (fixture: Fixture) => `
${recordList(fixture)}
local n = math.floor((os.time() % 10000) * 1000)
request = function()
  n = n + 1
  local i = n % #records
  local value = string.format("10.%d.%d.%d", math.floor(n / 65536) % 256, math.floor(n / 256) % 256, n % 256)
  local body = '{"value":"' .. value .. '","ttl":60,"type":"A","name":"h' .. i .. '","zone_id":"${fixture.zone}"}'
  return wrk.format("PUT", "/api/v1/records/" .. records[i + 1], {${headers(fixture)}}, body)
end`;
