import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { layCable } from "../../../../test/rig/cable.ts";
import { patience } from "../../../../test/rig/patience.ts";
import { filledAt, fillStore } from "../../../../test/rig/records/filled-store.ts";
import { addressOf, type PostgresRig, startPostgresRig } from "../../../../test/rig/records/postgres.ts";
import { until } from "../../../../test/rig/until.ts";
import { createLog } from "../../../process/log.ts";
import type { RecordStore } from "../../store/port.ts";
import { postgresMigrations } from "../../store/postgres/schema.ts";
import { checkStore } from "../check/check.ts";
import { startKeepingHistory } from "../keep-history.ts";
import { readPostgresTables, trimPostgresTables } from "./postgres.ts";
import { storeTables } from "./table.ts";

let rig: PostgresRig;
let url: string;
let name: string;
beforeAll(async () => {
  rig = await startPostgresRig();
});
afterAll(() => rig?.stop());
beforeEach(async () => {
  url = await rig.freshUrl();
  name = new URL(url).pathname.slice(1);
  const store = await rig.open(url);
  await fillStore(store as unknown as RecordStore);
  await store.close();
});

async function query(text: string): Promise<void> {
  const client = await rig.server.connect(name);
  await client.query(text);
  await client.end();
}

async function faultsAt(at: string): Promise<readonly string[]> {
  const tables = await readPostgresTables(addressOf(at), "look");
  const faults: string[] = [];
  await checkStore(tables, { fault: ({ message }) => faults.push(message), signal: AbortSignal.timeout(patience) });
  await tables.close();
  return faults;
}

const known = postgresMigrations.length;

describe("a database of another version", () => {
  it("newer but compatible: can be checked and trimmed, but not copied, because the copy would be incomplete", async () => {
    await query(`UPDATE schema_version SET taken = 99, oldest = ${known}`);
    expect(await faultsAt(url)).toEqual([]);
    const trimmed = await trimPostgresTables(addressOf(url));
    await trimmed.removeUpTo(storeTables.changes, [1]);
    await trimmed.close();
    await expect(readPostgresTables(addressOf(url), "copy")).rejects.toThrow(
      /newer moor \(schema 99, this version supports \d+\).*use the newer version, or pg_dump/,
    );
  });

  it("newer and not compatible: is refused", async () => {
    await query("UPDATE schema_version SET taken = 99, oldest = 99");
    for (const open of [() => readPostgresTables(addressOf(url), "look"), () => trimPostgresTables(addressOf(url))])
      await expect(open()).rejects.toThrow(/newer moor \(schema 99.*use the newer version\.$/);
  });
});

it("a TTL that was changed by hand is found in PostgreSQL too", async () => {
  expect(await faultsAt(url)).toEqual([]);
  await query("UPDATE zones SET settings = replace(settings, '3600', '1') WHERE name = 'again.example.org'");
  expect(await faultsAt(url)).toEqual(["it does not match the result of the last change in the log"]);
});

describe("a role that may only read", () => {
  it("must be able to read the sequences: a backup without them would assign numbers twice", async () => {
    await query(
      `CREATE ROLE "read-only" LOGIN PASSWORD 'leise'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO "read-only"`,
    );
    const reader = Object.assign(new URL(url), { username: "read-only", password: "leise" }).href;
    const grant = 'GRANT SELECT ON ALL SEQUENCES IN SCHEMA public TO "read-only"';
    const said = await readPostgresTables(addressOf(reader), "copy").then(String, (error: Error) => error.message);
    expect(said).toContain(grant);
    expect(said).not.toContain("leise");
    await query(grant);
    expect(await faultsAt(reader)).toEqual([]);
  });
});

describe("dropping history over a network that goes silent", () => {
  it("times out, and does not delay stopping", async () => {
    const cable = await layCable(rig.server.port);
    const address = addressOf(rig.server.url(name, cable.port));
    const tables = await trimPostgresTables(address, { connect: 20_000, statement: 1_000, lock: 1_000 });
    cable.silence();
    await expect(tables.count(storeTables.changes)).rejects.toThrow(/timeout/i);
    await tables.close();
    cable.mend();

    let opened = 0;
    const open = async () => {
      const trimmed = await trimPostgresTables(address);
      cable.silence();
      opened += 1;
      return trimmed;
    };
    const log = createLog({ format: "text", level: "silent", write: () => undefined });
    const stop = startKeepingHistory({ open, keep: 0, now: () => filledAt, log });
    await until(() => opened === 1, { what: () => "no round begins" });
    await stop();
    await cable.close();
  });
});
