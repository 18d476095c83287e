import { setImmediate as nextTurn } from "node:timers/promises";
import type { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { layCable } from "../../../../test/rig/cable.ts";
import { makePool, type poolOf } from "../../../../test/rig/records/pool-of-addresses.ts";
import { type PostgresRig, startPostgresRig } from "../../../../test/rig/records/postgres.ts";
import { until } from "../../../../test/rig/until.ts";
import { StoreBusy } from "../../../lib/limits/store-busy.ts";
import { createLog } from "../../../process/log.ts";
import type { PostgresStore, PostgresStoreOptions } from "./store.ts";

let rig: PostgresRig;
let url: string;
let store: PostgresStore;
let pool: ReturnType<typeof poolOf>;
/** Another client of the same database. */
let other: Client;

beforeAll(async () => {
  // Only commits write out the WAL, so a crash loses everything that was not committed.
  rig = await startPostgresRig(["wal_writer_delay=10s"]);
});
afterAll(() => rig.stop());
beforeEach(async () => {
  url = await rig.preparedUrl();
  store = await open();
  pool = await makePool(store);
  other = await rig.server.connect(new URL(url).pathname.slice(1));
});
afterEach(async () => {
  await other.end();
  await store.close();
});

const open = (options: Partial<PostgresStoreOptions> = {}) => rig.open(url, options);

/** Evaluates `what` for each connection of the store that waits for `wait`; returns one row per connection. */
const waiting = async (wait: string, what = "pid"): Promise<readonly unknown[]> => {
  // Within a transaction, pg_stat_activity is a snapshot taken at the first read.
  await other.query("SELECT pg_stat_clear_snapshot()");
  const { rows } = await other.query(
    `SELECT ${what} FROM pg_stat_activity ` +
      "WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active' AND wait_event = $1",
    [wait],
  );
  return rows;
};
/** Terminates them; returns whether there were any. */
const endWaiting = async (wait: string): Promise<boolean> =>
  (await waiting(wait, "pg_terminate_backend(pid)")).length > 0;
const oneEnded = (wait: string) => until(() => endWaiting(wait), { what: () => `nobody waits for ${wait}` });
const lockZone = () => other.query("BEGIN; SELECT 1 FROM zones FOR UPDATE");

describe("a lost connection", () => {
  it("before the commit: the write is repeated, once", async () => {
    await lockZone();
    const write = pool.add(store, "192.0.2.1");
    await oneEnded("transactionid");
    await other.query("COMMIT");
    expect(await write).toBe("192.0.2.1");
    expect(await pool.look(store)).toEqual({ values: ["192.0.2.1"], writes: 1, positions: [1] });
  });

  /** From now on commits wait for a lock, until `other` releases it or disconnects. */
  const letCommitsWait = () =>
    other.query(
      `SELECT pg_advisory_lock(7);
       CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS
         'BEGIN PERFORM pg_advisory_xact_lock_shared(7); RETURN NULL; END';
       CREATE CONSTRAINT TRIGGER dawdle AFTER INSERT ON changes DEFERRABLE INITIALLY DEFERRED
       FOR EACH ROW EXECUTE FUNCTION dawdle()`,
    );

  it("during a commit that failed: the write is repeated, once", async () => {
    await letCommitsWait();
    const write = pool.add(store, "192.0.2.1");
    await oneEnded("advisory");
    await other.query("SELECT pg_advisory_unlock(7)");
    expect(await write).toBe("192.0.2.1");
    expect(await pool.look(store)).toEqual({ values: ["192.0.2.1"], writes: 1, positions: [1] });
  });

  it("during a commit that failed, and whose transaction id was used again: the write is repeated, once", async () => {
    await letCommitsWait();
    const write = pool.add(store, "192.0.2.1");
    await until(async () => (await waiting("advisory")).length > 0, { what: () => "nobody commits" });
    await rig.server.restart("crash");
    other = await rig.server.connect(new URL(url).pathname.slice(1));
    for (let i = 0; i < 10; i += 1) await other.query("SELECT pg_current_xact_id()");
    expect(await write).toBe("192.0.2.1");
    expect(await pool.look(store)).toEqual({ values: ["192.0.2.1"], writes: 1, positions: [1] });
  });

  it("during a commit that succeeded: the write is not repeated", async () => {
    // A commit that waits for a standby has happened; only its answer is missing.
    await setStandby("'nobody'");
    let [made, ended] = [0, false];
    // The server applies the setting with a delay, so the first writes may not have to wait.
    const writes = (async () => {
      while (!ended) {
        made += 1;
        await pool.add(store, `192.0.2.${made}`);
        await nextTurn();
      }
    })();
    try {
      await oneEnded("SyncRep");
    } finally {
      ended = true;
      await setStandby("''");
    }
    await writes;
    const all = Array.from({ length: made }, (_, i) => i + 1);
    const values = all.map((i) => `192.0.2.${i}`);
    expect(await pool.look(store)).toEqual({ values, writes: made, positions: all });
  });

  it("a commit that waits for a standby for too long: the writer learns that its write may be saved", async () => {
    const hasty = await open({ limits: { commit: 100, patience: 400 } });
    await setStandby("'nobody'");
    let made = 0;
    // The server applies the setting with a delay, so the first writes may not have to wait.
    const waitedTooLong = async () => {
      const error = await pool.add(hasty, `192.0.2.${++made}`).catch((fault: unknown) => fault);
      return error instanceof StoreBusy && error.message.includes("may or may not have been saved");
    };
    try {
      await until(waitedTooLong, { what: () => "a commit that waits" });
    } finally {
      await setStandby("''");
      await hasty.close();
    }
    await expect.poll(async () => (await pool.look(store)).values).toContain(`192.0.2.${made}`);
  });

  const setStandby = async (names: string): Promise<void> => {
    await other.query(`ALTER SYSTEM SET synchronous_standby_names = ${names}`);
    await other.query("SELECT pg_reload_conf()");
    const shown = async () => (await other.query("SHOW synchronous_standby_names")).rows[0];
    const name = names.replaceAll("'", "");
    await until(async () => (await shown())?.synchronous_standby_names === name, {
      what: () => "no new config",
    });
  };

  it.for(["orderly", "crash"] as const)("after a restart (%s): acknowledged writes exist exactly once", async (how) => {
    const answered: string[] = [];
    let going = true;
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let i = 0; going; i += 1) {
        const value = `192.0.${writer}.${i}`;
        const done = await pool.add(store, value).catch(() => undefined);
        if (done === undefined) await nextTurn();
        else answered.push(value);
      }
    });
    await until(() => answered.length > 20, { what: () => "the first writes" });
    await rig.server.restart(how);
    const before = answered.length;
    await until(() => answered.length > before + 20, { what: () => "nothing is written any more" });
    going = false;
    await Promise.all(writers);
    const { values, writes, positions } = await pool.look(store);
    expect(values.toSorted()).toEqual([...new Set(values)].toSorted());
    expect(new Set(values).isSupersetOf(new Set(answered))).toBe(true);
    expect(writes).toBe(values.length);
    expect(positions).toEqual(positions.map((_, i) => i + 1));
    other = await rig.server.connect(new URL(url).pathname.slice(1));
  });
});

describe("a busy store", () => {
  it("refuses immediately if too many writes are waiting", async () => {
    const narrow = await open({ mostWaiting: 6 });
    await lockZone();
    const refused: unknown[] = [];
    const writes = Array.from({ length: 10 }, (_, i) =>
      pool.add(narrow, `192.0.2.${i}`).catch((error: unknown) => void refused.push(error)),
    );
    // Four have no place in the queue, and three of the others have none in the queue of the locked zone.
    await until(() => refused.length === 7, { what: () => "refusals" });
    expect(refused.every((reason) => reason instanceof StoreBusy)).toBe(true);
    await other.query("COMMIT");
    await Promise.all(writes);
    expect((await pool.look(narrow)).writes).toBe(3);
    await narrow.close();
  });

  it("waits for a lock only until the timeout", async () => {
    const hasty = await open({ limits: { lock: 100 } });
    await lockZone();
    await expect(pool.add(hasty, "192.0.2.1")).rejects.toThrow(StoreBusy);
    await other.query("COMMIT");
    expect(await pool.add(hasty, "192.0.2.2")).toBe("192.0.2.2");
    await hasty.close();
  });

  it.for([
    [
      "is read-only",
      "ALTER DATABASE :db SET default_transaction_read_only = on",
      "ALTER DATABASE :db RESET default_transaction_read_only",
      "the database is read-only: it is a standby, or configured as read-only",
    ],
    [
      "has a full disk",
      `CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE disk_full; END';
       CREATE TRIGGER fill BEFORE INSERT ON changes EXECUTE FUNCTION fill()`,
      "DROP TRIGGER fill ON changes",
      "the disk of the database is full",
    ],
  ] as const)(
    "says what is wrong when the database %s, and recovers when that is repaired",
    async ([, spoil, repair, says]) => {
      const database = new URL(url).pathname.slice(1);
      const run = async (text: string) => {
        await other.query("SET default_transaction_read_only = off");
        await other.query(text.replace(":db", database));
        await other.query(
          "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()",
          [database],
        );
      };
      await run(spoil);
      const refused = pool.add(store, "192.0.2.1");
      await expect(refused).rejects.toThrow(StoreBusy);
      await expect(refused).rejects.toMatchObject({ message: says, retryAfter: 10 });
      if (says.includes("is read-only")) await expect(store.checkHealth()).rejects.toThrow(says);
      await run(repair);
      expect(await pool.add(store, "192.0.2.2")).toBe("192.0.2.2");
      expect(await pool.look(store)).toMatchObject({ values: ["192.0.2.2"], writes: 1 });
      await store.checkHealth();
    },
  );

  it("refuses when nothing arrives from the database, without waiting for the limits of statements and connections", async () => {
    const cable = await layCable(rig.server.port);
    const far = new URL(url);
    far.port = String(cable.port);
    const cut = await rig.open(far.href, { limits: { patience: 1_000 } });
    expect(await pool.add(cut, "192.0.2.1")).toBe("192.0.2.1");
    cable.silence();
    await expect(cut.zone(1, "any")).rejects.toThrow("the database cannot be reached");
    await expect(pool.add(cut, "192.0.2.2")).rejects.toThrow(StoreBusy);
    cable.mend();
    await expect.poll(() => pool.add(cut, "192.0.2.3")).toBe("192.0.2.3");
    await cut.close();
    await cable.close();
  });

  it("refuses while the database is down, and logs once that it is down and once that it is back", async () => {
    const said: string[] = [];
    const log = createLog({ format: "text", write: (line) => said.push(line) });
    const hasty = await open({ log, limits: { patience: 200 } });
    await rig.server.pause();
    for (const _ of [1, 2]) {
      await expect(pool.add(hasty, "192.0.2.1")).rejects.toThrow(StoreBusy);
      await expect(hasty.zone(1, "any")).rejects.toThrow(StoreBusy);
    }
    await rig.server.resume();
    other = await rig.server.connect(new URL(url).pathname.slice(1));
    await expect.poll(() => pool.add(hasty, "192.0.2.2")).toBe("192.0.2.2");
    const states = said.flatMap((line) => /cannot be reached|is back/.exec(line)?.[0] ?? []);
    // A connection that survived a moment longer may have been used meanwhile, so the log may say "back" in between.
    expect(states.join("; ")).toMatch(/^cannot be reached; is back(?:; cannot be reached; is back)*$/);
    expect(said.join("")).not.toContain("harbour");
    await hasty.close();
  });
});
