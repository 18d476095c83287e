import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runMoor } from "../../src/cli/program.ts";
import { wholeAccount } from "../../src/core/may.ts";
import type { Fault } from "../../src/core/result.ts";
import { recordsDatabase } from "../../src/records/open-store.ts";
import { createRecordService } from "../../src/records/service.ts";
import { openSqliteStore } from "../../src/records/store/sqlite/store.ts";
import { checkStore } from "../../src/records/tools/check/check.ts";
import { readSqliteTables } from "../../src/records/tools/tables/sqlite.ts";
import { eachPart, type Row, storeTables } from "../../src/records/tools/tables/table.ts";
import { openTerminal } from "../rig/cli/terminal.ts";
import { patience } from "../rig/patience.ts";

/** A data folder with a token and a zone that no service uses yet. Returns the token. */
export async function prepareData(data: string, zone: string): Promise<string> {
  const { io, printed } = openTerminal(data);
  if ((await runMoor(["token", "add", "--new", "--data", data, "--to", join(data, "token")], io)) !== 0)
    throw new Error(printed.err);
  const store = openSqliteStore(recordsDatabase(data));
  const service = createRecordService({ store, now: Date.now, nameservers: ["ns1.example.net"] });
  const account = await store.ensureAccount("main", Date.now());
  const actor = { account: account.id, label: "test", scope: wholeAccount };
  const content = { kind: "sets", sets: [] } as const;
  const draft = { name: zone, mode: "primary", ttl: 60, labels: {}, primaries: [], locked: false, content } as const;
  const made = await service.createZone(actor, draft);
  store.close();
  if (made.kind !== "done") throw new Error(JSON.stringify(made));
  return readFileSync(join(data, "token"), "utf8").trim();
}

/** What `moor store check` would say. */
export async function faultsIn(database: string): Promise<readonly Fault[]> {
  const tables = readSqliteTables(database);
  const faults: Fault[] = [];
  try {
    await checkStore(tables, { fault: (fault) => void faults.push(fault), signal: AbortSignal.timeout(patience) });
  } finally {
    await tables.close();
  }
  return faults;
}

/** All A sets: owner to value. */
export async function valuesIn(database: string): Promise<ReadonlyMap<string, string>> {
  const values = new Map<string, string>();
  await eachRow(database, "sets", ([, owner, type, , records]) => {
    const [record] = JSON.parse(String(records)) as { rdata: string }[];
    if (type === "A") values.set(String(owner), record?.rdata ?? "");
  });
  return values;
}

export async function logIn(database: string): Promise<readonly string[]> {
  const rows: string[] = [];
  await eachRow(database, "changes", (row) => void rows.push(JSON.stringify(row)));
  return rows;
}

async function eachRow(database: string, table: keyof typeof storeTables, each: (row: Row) => void): Promise<void> {
  const tables = readSqliteTables(database);
  try {
    for await (const rows of eachPart(tables, storeTables[table])) rows.forEach(each);
  } finally {
    await tables.close();
  }
}
