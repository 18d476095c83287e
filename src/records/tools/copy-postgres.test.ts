import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { patience } from "../../../test/rig/patience.ts";
import { realPause } from "../../../test/rig/real-pause.ts";
import { filledAt, fillStore } from "../../../test/rig/records/filled-store.ts";
import { addressOf, type PostgresRig, startPostgresRig } from "../../../test/rig/records/postgres.ts";
import type { Fault } from "../../core/result.ts";
import type { RecordStore } from "../store/port.ts";
import { openSqliteStore } from "../store/sqlite/store.ts";
import { backupTables } from "./backup.ts";
import { checkStore } from "./check/check.ts";
import { copyTables, sumTables } from "./copy.ts";
import { dropHistory } from "./keep-history.ts";
import { readPostgresTables, trimPostgresTables, writePostgresTables } from "./tables/postgres.ts";
import { readSqliteTables, writeSqliteTables } from "./tables/sqlite.ts";
import { storeTables, type Tables, type WritableTables } from "./tables/table.ts";

let rig: PostgresRig;
let folder: string;
let file: string;
beforeAll(async () => {
  rig = await startPostgresRig();
  folder = mkdtempSync(join(tmpdir(), "moor-there-and-back-"));
  file = join(folder, "first.sqlite");
  const store = openSqliteStore(file);
  await fillStore(store);
  store.close();
});
afterAll(async () => {
  await rig?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const quietly = () => ({ tell: () => undefined, signal: AbortSignal.timeout(patience) });

async function closing<T>(tables: WritableTables, work: (tables: WritableTables) => Promise<T>): Promise<T> {
  try {
    return await work(tables);
  } finally {
    await tables.close();
  }
}

const sumsOf = (tables: Tables) => sumTables(tables, AbortSignal.timeout(patience), () => undefined);

async function zonesIn(store: Omit<RecordStore, "close">): Promise<readonly unknown[]> {
  const account = await store.ensureAccount("main", filledAt);
  const zones = await store.zonesAfter(account.id, "", 1_000, {});
  return await Promise.all(zones.map(async (zone) => [zone, await store.sets(zone, {})]));
}

describe("from SQLite to PostgreSQL and back", () => {
  let url: string;
  beforeAll(async () => {
    url = await rig.freshUrl();
    const { tables, finish } = await writePostgresTables(addressOf(url));
    await closing(readSqliteTables(file), async (source) => {
      await copyTables(source, tables, quietly());
      await finish();
    });
    await tables.close();
  });

  it("every table has the same checksum, and the check finds nothing", async () => {
    const faults: Fault[] = [];
    await closing(await readPostgresTables(addressOf(url), "copy"), async (there) => {
      await closing(readSqliteTables(file), async (here) => expect(await sumsOf(there)).toEqual(await sumsOf(here)));
      const fault = (each: Fault) => void faults.push(each);
      const counts = await checkStore(there, { fault, signal: AbortSignal.timeout(patience) });
      expect(counts).toMatchObject({ zones: 2 });
    });
    expect(faults).toEqual([]);
  });

  it("the server has table statistics from the start", async () => {
    const client = await rig.server.connect(new URL(url).pathname.slice(1));
    const { rows } = await client.query("SELECT reltuples AS sets FROM pg_class WHERE relname = 'rrsets'");
    await client.end();
    expect(rows[0].sets).toBeGreaterThan(0);
  });

  it("zones and sets are the same, there and back", async () => {
    const first = openSqliteStore(file);
    const wanted = await zonesIn(first);
    first.close();
    expect(wanted).toHaveLength(2);
    const there = await rig.open(url);
    expect(await zonesIn(there)).toEqual(wanted);
    const stranger = { account: 99, name: "org" };
    expect(await there.obstacleTo(stranger)).toBe("above-foreign-zone");
    await there.close();

    const back = join(folder, "back.sqlite");
    await closing(await readPostgresTables(addressOf(url), "copy"), (source) =>
      closing(writeSqliteTables(back), async (target) => {
        expect((await copyTables(source, target, quietly())).kind).toBe("done");
      }),
    );
    const again = openSqliteStore(back);
    expect(await zonesIn(again)).toEqual(wanted);
    expect(await again.obstacleTo(stranger)).toBe("above-foreign-zone");
    again.close();
  });

  it("the copy is backed up as the same kind of file", async () => {
    const backup = join(folder, "backup.sqlite");
    await closing(await readPostgresTables(addressOf(url), "copy"), async (tables) => {
      const tellers = { progress: () => undefined, signal: AbortSignal.timeout(patience) };
      expect(await backupTables(tables, backup, tellers)).toMatchObject({ kind: "done", counts: { zones: 2 } });
    });
    await closing(readSqliteTables(backup), (one) =>
      closing(readSqliteTables(file), async (two) => expect(await sumsOf(one)).toEqual(await sumsOf(two))),
    );
  });

  it("the database accepts no second copy, because it holds data", async () => {
    await expect(writePostgresTables(addressOf(url))).rejects.toThrow(/already holds data; create an empty one/);
  });

  it("the copy continues the numbers of the original: writes work, and no number is assigned twice", async () => {
    const there = await rig.open(url);
    const before = await there.lastChange();
    await fillStore(there as unknown as RecordStore, "example.com");
    const zones = await there.everyZone(0, 10);
    expect(zones.map(({ number }) => number)).toEqual([1, 3, 4, 6]);
    expect((await there.changesAfter(before, 1))[0]?.position).toBe(before + 1);
    await there.close();
  });

  it("the copy drops its old history in small steps", async () => {
    await closing(await trimPostgresTables(addressOf(url)), async (tables) => {
      const count = await tables.count(storeTables.changes);
      const dropped = await dropHistory(tables, {
        before: filledAt + 9_000,
        rest: 0,
        signal: AbortSignal.timeout(patience),
      });
      expect(dropped).toBeGreaterThan(5);
      expect(await tables.count(storeTables.changes)).toBe(count - dropped);
    });
    const faults: Fault[] = [];
    await closing(await readPostgresTables(addressOf(url), "copy"), async (tables) => {
      await checkStore(tables, { fault: (each) => void faults.push(each), signal: AbortSignal.timeout(patience) });
    });
    expect(faults).toEqual([]);
  });
});

describe("a database whose server sets its own timeouts", () => {
  it("can still be copied and read: these tools lift the timeouts", async () => {
    const url = await rig.freshUrl();
    const database = new URL(url).pathname.slice(1);
    const admin = await rig.server.connect();
    const names = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "idle_session_timeout"];
    for (const name of names) await admin.query(`ALTER DATABASE ${database} SET ${name} = '500ms'`);
    await admin.end();
    const slowly = async (tables: Tables) => {
      await realPause(1_000, "longer than the timeouts of the server");
      // Otherwise the server would end this session, and its lock, before the others have waited longer than the
      // timeouts.
      const options = names.map((name) => `-c ${name}=0`).join(" ");
      const other = new pg.Client({ connectionString: url, options });
      await other.connect();
      await other.query("BEGIN; LOCK accounts");
      const counting = tables.count(storeTables.accounts);
      await realPause(1_000, "longer than the timeouts of the server");
      await other.end();
      expect(await counting).toBe(0);
    };
    const { tables, finish } = await writePostgresTables(addressOf(url));
    await realPause(1_000, "longer than the timeouts of the server");
    await finish();
    await tables.close();
    await closing(await readPostgresTables(addressOf(url), "copy"), slowly);
  });
});

describe("a copy to PostgreSQL that is interrupted", () => {
  it("leaves the database empty; a node that starts meanwhile waits, and does not use an incomplete copy", async () => {
    const url = await rig.freshUrl();
    const end = new AbortController();
    const first = await writePostgresTables(addressOf(url));
    const stop = ({ done }: { readonly done: number }) => void (done > 20 && end.abort(new Error("stopped")));
    await closing(readSqliteTables(file), async (source) => {
      const copying = copyTables(source, first.tables, { tell: stop, signal: end.signal });
      await expect(copying).rejects.toThrow("stopped");
    });
    await expect(readPostgresTables(addressOf(url), "copy")).rejects.toThrow(/does not contain a moor store/);
    const node = rig.open(url);
    expect(await Promise.race([node, realPause(500, "a node that does not wait has started by then")])).toBeUndefined();
    await first.tables.close();
    const opened = await node;
    expect(await opened.everyZone(0, 10)).toEqual([]);
    await opened.close();
  });
});

describe("a database that is not a store", () => {
  it("in which this user cannot create tables is refused, with what to do", async () => {
    const url = new URL(await rig.freshUrl());
    const admin = await rig.server.connect();
    await admin.query("CREATE ROLE guest LOGIN PASSWORD 'geheim'");
    await admin.end();
    [url.username, url.password] = ["guest", "geheim"];
    await expect(writePostgresTables(addressOf(url.href))).rejects.toThrow(
      /cannot be used: permission denied .*; allow this user to create and change tables there/,
    );
  });

  it("is reported as such, without its password", async () => {
    const url = await rig.freshUrl();
    await expect(readPostgresTables(addressOf(url), "copy")).rejects.toThrow(/does not contain a moor store/);
  });

  it("is reported also if it does not exist", async () => {
    const reading = readPostgresTables(addressOf("postgres://me:geheim@127.0.0.1:1/none"), "copy");
    const message = await reading.then(String, (error: Error) => error.message);
    expect(message).toMatch(/^the database postgres:\/\/me@127\.0\.0\.1:1\/none cannot be used: /);
  });
});
