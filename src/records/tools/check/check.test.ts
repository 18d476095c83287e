import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { patience } from "../../../../test/rig/patience.ts";
import { fillStore } from "../../../../test/rig/records/filled-store.ts";
import { signZone, unsignNow } from "../../../../test/rig/records/sign.ts";
import type { Fault } from "../../../core/result.ts";
import { KeyFileSigner } from "../../signing/signer.ts";
import { migrations } from "../../store/sqlite/schema.ts";
import { openSqliteStore } from "../../store/sqlite/store.ts";
import { dropHistory } from "../keep-history.ts";
import { readSqliteTables, trimSqliteTables } from "../tables/sqlite.ts";
import { placeIn, storeTables } from "../tables/table.ts";
import { checkStore } from "./check.ts";

let folder: string;
let path: string;
let filled: string;
beforeAll(async () => {
  filled = join(mkdtempSync(join(tmpdir(), "moor-check-")), "records.sqlite");
  const store = openSqliteStore(filled);
  await fillStore(store);
  store.close();
});
afterAll(() => rmSync(dirname(filled), { recursive: true, force: true }));
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "moor-check-"));
  path = join(folder, "records.sqlite");
  copyFileSync(filled, path);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function faultsOf(): Promise<readonly Fault[]> {
  const tables = readSqliteTables(path);
  const faults: Fault[] = [];
  await checkStore(tables, { fault: (fault) => void faults.push(fault), signal: AbortSignal.timeout(patience) });
  await tables.close();
  return faults;
}

function change(...statements: readonly string[]): void {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON");
  for (const statement of statements) database.exec(statement);
  database.close();
}

const www = "zone = 1 AND owner = 'www' AND type = 'A'";
const lastOf = (zone: number) => `(SELECT max(position) FROM changes WHERE zone = ${zone})`;

const damages: [what: string, statement: string, code: string, where: RegExp][] = [
  [
    "a value that does not parse",
    `UPDATE rrsets SET records = replace(records, '192.0.2.12', '192.0.2.999') WHERE ${www}`,
    "value-unreadable",
    /example\.org, www A/,
  ],
  [
    "a value that is not canonical",
    `UPDATE rrsets SET records = replace(records, '"rdata":"10 mx1', '"rdata":"010 mx1') WHERE owner = 'mail'`,
    "value-unreadable",
    /mail MX/,
  ],
  ["records that are not JSON", `UPDATE rrsets SET records = '[' WHERE ${www}`, "row-unreadable", /www A/],
  ["a set without records", `UPDATE rrsets SET records = '[]' WHERE ${www}`, "empty-set", /www A/],
  [
    "a duplicate value",
    "UPDATE rrsets SET records = replace(records, '20 mx2', '10 mx1') WHERE owner = 'mail'",
    "duplicate-value",
    /mail MX/,
  ],
  [
    "a CNAME beside other records",
    "INSERT INTO rrsets SELECT zone, owner, 'CNAME', ttl, replace(records, '192.0.2.12', 'a.example.'), marks FROM rrsets WHERE zone = 1 AND owner = 'www' AND type = 'A'",
    "cname-and-other",
    /www CNAME/,
  ],
  ["an uppercase owner", `UPDATE rrsets SET owner = 'WWW' WHERE ${www}`, "log-differs", /WWW A/],
  ["a zone without its SOA", "DELETE FROM rrsets WHERE zone = 1 AND type = 'SOA'", "soa-missing", /zone example\.org/],
  [
    "a wrong number of records",
    "UPDATE zones SET record_count = 3 WHERE number = 1",
    "count-wrong",
    /zone example\.org/,
  ],
  ["a record missing from the index", `DELETE FROM record_ids WHERE ${www}`, "index-wrong", /www A/],
  ["an index entry with the wrong owner", `UPDATE record_ids SET owner = 'mail' WHERE ${www}`, "index-wrong", /www A/],
  ["an index entry without a record", "INSERT INTO record_ids VALUES ('0', 1, 'www', 'A')", "index-wrong", /www A/],
  [
    "a zone that was renamed",
    "UPDATE zones SET name = 'other.example' WHERE number = 1",
    "name-differs",
    /other\.example/,
  ],
  [
    "a serial that is not the last one in the log",
    "UPDATE zones SET serial = serial + 1 WHERE number = 1",
    "serial-differs",
    /example\.org/,
  ],
  [
    "a serial that goes back in the log",
    `UPDATE changes SET serial = 7 WHERE position = ${lastOf(1)}`,
    "serial-went-back",
    /change \d+, zone example\.org/,
  ],
  [
    "a missing row of the log",
    `DELETE FROM changes WHERE position = ${lastOf(1)} - 1`,
    "log-torn",
    /change \d+, zone example\.org/,
  ],
  ["a missing last row of the log", `DELETE FROM changes WHERE position = ${lastOf(1)}`, "log-differs", /www A/],
  [
    "a set without a change that created it",
    `DELETE FROM changes WHERE zone = 1 AND change LIKE '%"owner":"mail"%'`,
    "log-differs",
    /mail MX/,
  ],
  [
    "settings that differ from the log",
    `UPDATE zones SET settings = replace(settings, '7200', '1') WHERE number = 1`,
    "log-differs",
    /settings/,
  ],
  [
    "a TTL that was changed by hand in a zone whose settings never changed",
    "UPDATE zones SET settings = replace(settings, '3600', '1') WHERE name = 'again.example.org'",
    "log-differs",
    /again\.example\.org, settings/,
  ],
  [
    "a first change of settings that does not begin with those of the new zone",
    `UPDATE changes SET change = json_replace(change, '$.settings.ttl', 1) WHERE zone = 1 AND change ->> '$.settings.ttl' = 3600`,
    "log-torn",
    /change \d+, zone example\.org/,
  ],
  [
    "first settings that are not valid",
    "UPDATE changes SET change = json_replace(change, '$.settings', 1) WHERE change ->> '$.settings.ttl' = 3600",
    "change-unreadable",
    /zone example\.org/,
  ],
  ["a change that is not JSON", "UPDATE changes SET change = '{' WHERE position = 2", "change-unreadable", /change 2/],
  ["a wrong number of zones", "UPDATE zone_counts SET zones = 9", "zones-miscounted", /account 1/],
];

describe("the check of a store", () => {
  it("finds nothing wrong with what the service wrote", async () => {
    expect(await faultsOf()).toEqual([]);
  });

  it("finds nothing wrong with signed zones, and with those that are no longer signed", async () => {
    const signer = new KeyFileSigner(join(folder, "key"));
    const store = openSqliteStore(path, migrations, signer);
    const zone = await store.zoneHolding("example.org");
    if (zone === undefined) throw new Error("the filled store has no example.org");
    const by = { store, actor: "test", now: Date.now() };
    const signed = await signZone(by, zone, { algorithm: 13, denial: "nsec3" }, signer);
    expect(signed).toMatchObject({ ok: true });
    expect(await faultsOf()).toEqual([]);
    await unsignNow(by, zone);
    store.close();
    expect(await faultsOf()).toEqual([]);
  });

  it.each(damages)("finds %s", async (_, statement, code, where) => {
    change(statement);
    const faults = await faultsOf();
    expect(faults.map((fault) => fault.code)).toContain(code);
    expect(faults.find((fault) => fault.code === code)?.where).toMatch(where);
    for (const { todo } of faults) expect(todo).toBeTruthy();
  });

  it("does not judge the settings of a zone whose log does not have the first ones", async () => {
    change(
      "UPDATE changes SET change = json_remove(change, '$.settings')",
      "UPDATE zones SET settings = replace(settings, '3600', '1') WHERE name = 'again.example.org'",
    );
    expect(await faultsOf()).toEqual([]);
  });

  it("finds rows whose account or zone does not exist, as the database does", async () => {
    change("UPDATE tokens SET account = 9", "UPDATE zone_grants SET zone = 99 WHERE id = 1");
    const messages = (await faultsOf()).map(({ code, message }) => `${code}: ${message}`);
    expect(messages.toSorted()).toEqual([
      "damaged: rows of tokens belong to rows of accounts that do not exist",
      "damaged: rows of zone_grants belong to rows of zones that do not exist",
    ]);
  });

  it("finds a damaged page", async () => {
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0x5a, bytes.length - 4096));
    expect((await faultsOf())[0]).toMatchObject({ code: "damaged" });
  });

  it.each([3, 9, 15, 20])("finds nothing wrong with a log that begins at or after change %i", async (count) => {
    const tables = trimSqliteTables(path);
    const [row] = await tables.find(storeTables.changes, [[count]]);
    const cut = Number(row?.[placeIn(storeTables.changes, "at")]);
    const dropped = await dropHistory(tables, { before: cut, rest: 0, signal: AbortSignal.timeout(patience) });
    await tables.close();
    expect(dropped).toBeLessThan(count);
    expect(await faultsOf()).toEqual([]);
  });
});

describe("the check of a signed zone", () => {
  beforeEach(async () => {
    const signer = new KeyFileSigner(join(folder, "key"));
    const store = openSqliteStore(path, migrations, signer);
    const account = await store.ensureAccount("main", 1);
    for (const [name, denial] of [
      ["example.org", "nsec"],
      ["again.example.org", "nsec3"],
    ] as const) {
      const zone = await store.zoneBy(account.id, { name });
      if (zone === undefined) throw new Error(`no zone ${name}`);
      const signed = await signZone({ store, actor: "a", now: Date.now() }, zone, { algorithm: 13, denial }, signer);
      if (!signed.ok) throw new Error(signed.faults[0]?.message);
    }
    store.close();
  });

  it("finds nothing wrong with what the service wrote", async () => {
    expect(await faultsOf()).toEqual([]);
  });

  const last = "zone = 1 AND owner = 'www'";
  const namesOf = "(SELECT names_at FROM zones WHERE number = 1)";
  const lastName = `zone = ${namesOf} AND owner = 'www'`;
  it.each([
    ["a zone without its key", "DELETE FROM signing_keys WHERE zone = 1", "signing-key-missing", /zone example\.org/],
    [
      "a key that no zone uses",
      "INSERT INTO signing_keys VALUES ('k', 1, '')",
      "signing-key-unused",
      /zone example\.org/,
    ],
    ["a name that is not signed", `DELETE FROM signed_names WHERE ${lastName}`, "not-signed", /example\.org, www/],
    ["a gap in the chain", `DELETE FROM signed_names WHERE ${lastName}`, "chain-broken", /zone example\.org/],
    [
      "a gap in a chain of hashes",
      `DELETE FROM signed_names WHERE zone <> ${namesOf} AND link = (SELECT max(link) FROM signed_names WHERE zone <> ${namesOf})`,
      "chain-broken",
      /zone again\.example\.org/,
    ],
    [
      "a missing signature",
      `UPDATE signed_names SET made = '[' || json_extract(made, '$[0]') || ']' WHERE ${lastName}`,
      "signature-missing",
      /example\.org, www/,
    ],
    [
      "signatures that are not JSON",
      `UPDATE signed_names SET made = '[' WHERE ${lastName}`,
      "signed-name-unreadable",
      /www/,
    ],
    [
      "a signed name without records",
      `DELETE FROM rrsets WHERE ${last}`,
      "signed-without-records",
      /example\.org, www/,
    ],
  ])("finds %s", async (_, statement, code, where) => {
    change(statement);
    const found = (await faultsOf()).filter((fault) => fault.code === code);
    expect(found[0]?.where).toMatch(where);
    expect(found[0]?.todo).toBeTruthy();
  });
});

it("a check can be aborted between its parts", async () => {
  const [tables, stop] = [readSqliteTables(path), new AbortController()];
  setImmediate(() => stop.abort(new Error("stopped")));
  const checking = checkStore(tables, { fault: () => undefined, signal: stop.signal });
  await expect(checking).rejects.toThrow("stopped");
  await tables.close();
});
