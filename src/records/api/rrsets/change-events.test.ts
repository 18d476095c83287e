import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aSet } from "../../../../test/rig/records/a-set.ts";
import { makePool } from "../../../../test/rig/records/pool-of-addresses.ts";
import { startPostgresRig } from "../../../../test/rig/records/postgres.ts";
import { saveStandby, standbyTakesOver } from "../../../../test/rig/records/standby.ts";
import { createZoneIn } from "../../../../test/rig/store/write.ts";
import { until } from "../../../../test/rig/until.ts";
import { type Scope, wholeAccount } from "../../../core/may.ts";
import { FairSchedule } from "../../../lib/limits/fair-schedule.ts";
import { type LoggedChange, plainSettings } from "../../model.ts";
import { plainIds } from "../../queries/obfuscated-ids.ts";
import type { Actor } from "../../queries/permitted-view.ts";
import type { RecordStore } from "../../store/port.ts";
import { openSqliteStore, type SqliteStore } from "../../store/sqlite/store.ts";
import { createEventStreams, cutAfter } from "./change-events.ts";

let store: SqliteStore;
let stop: AbortController;
beforeEach(() => {
  store = openSqliteStore(":memory:");
  stop = new AbortController();
});
afterEach(() => {
  stop.abort();
  store.close();
});

describe("event streams", () => {
  const followerOf = (account: number) => ({
    account,
    actorNow: async () => ({ account, label: "test", scope: wholeAccount }),
    shownIds: plainIds,
  });

  it("resume where they were after the log could not be read for a while", async () => {
    const pool = await makePool(store);
    const start = await store.lastChange();
    let away = true;
    const streams = createEventStreams(
      {
        ...store,
        changesAfter: (...asked) => (away ? Promise.reject(new Error("away")) : store.changesAfter(...asked)),
      },
      () => true,
      new FairSchedule(),
    );
    const { account } = pool.zone;
    const actorNow = async () => ({ account, label: "test", scope: wholeAccount });
    const told: string[] = [];
    const follow = () =>
      streams.follow(
        { account, actorNow, shownIds: plainIds },
        start,
        async (text) => {
          told.push(text);
          return false;
        },
        stop.signal,
      );
    await pool.add(store, "192.0.2.1");
    await expect(follow()).rejects.toThrow("away");
    away = false;
    await follow();
    expect(told.join("")).toContain("192.0.2.1");
    streams.close();
  });

  it("listen to writes only while somebody follows, and miss none of those in between", async () => {
    const pool = await makePool(store);
    let listeners = 0;
    const counted: typeof store = {
      ...store,
      onChange: (listener) => {
        const end = store.onChange(listener);
        listeners += 1;
        return () => {
          listeners -= 1;
          end();
        };
      },
    };
    const streams = createEventStreams(counted, () => true, new FairSchedule());
    const start = await store.lastChange();
    const sent: string[] = [];
    const follow = (signal: AbortSignal) => {
      const sink = async (text: string) => sent.push(text) === 0;
      return streams.follow(followerOf(pool.zone.account), start, sink, signal);
    };
    expect(listeners).toBe(0);
    const first = new AbortController();
    const following = [follow(first.signal), follow(first.signal)];
    expect(listeners).toBe(1);
    await nextTurn();
    first.abort();
    await Promise.all(following);
    expect([listeners, sent]).toEqual([0, []]);
    await pool.add(store, "192.0.2.1");
    await follow(stop.signal);
    expect([listeners, sent.length]).toEqual([0, 1]);
    streams.close();
  });

  /** What a follower receives if its scope may differ at each change. */
  async function sentWith(scopes: readonly (Scope | undefined)[]): Promise<readonly string[]> {
    const pool = await makePool(store);
    const maySee = (actor: Actor, { zoneName }: LoggedChange) => actor.scope.zones?.includes(zoneName) ?? true;
    const streams = createEventStreams(store, maySee, new FairSchedule());
    const { account } = pool.zone;
    const sent: string[] = [];
    let asked = 0;
    const actorNow = async () => {
      const scope = scopes[asked];
      asked += 1;
      return scope && { account, label: "test", scope };
    };
    const sink = async (text: string) => sent.push(text) > 0;
    const done = streams.follow({ account, actorNow, shownIds: plainIds }, await store.lastChange(), sink, stop.signal);
    for (const [i] of scopes.entries()) {
      await pool.add(store, `192.0.2.${i}`);
      await expect.poll(() => asked).toBe(i + 1);
    }
    if (!scopes.includes(undefined)) stop.abort();
    await done;
    streams.close();
    return sent.map((text) => /192\.0\.2\.\d+(?!.*192)/.exec(text)?.[0] ?? text);
  }

  it("end without another event when access is revoked", async () => {
    expect(await sentWith([wholeAccount, undefined])).toEqual(["192.0.2.0"]);
  });

  it("use the scope at the time each event is sent", async () => {
    const elsewhere = { ...wholeAccount, zones: ["other.example"] };
    expect(await sentWith([wholeAccount, elsewhere, wholeAccount])).toEqual(["192.0.2.0", "192.0.2.2"]);
  });

  /** A log with a number of changes of one account, and what is read of it. */
  async function longLog(changes: number) {
    const { id: account } = await store.ensureAccount("busy", 1);
    const sets = Array.from({ length: changes }, (_, i) => aSet(`h${i}`, "192.0.2.1"));
    const zone = { account, id: "z", name: "busy.example", settings: plainSettings(60), serial: 1, created: 1, sets };
    await createZoneIn(store, zone, "test");
    const read = { rows: 0, times: 0 };
    const counted: typeof store = {
      ...store,
      changesAfter: async (...asked) => {
        const rows = await store.changesAfter(...asked);
        read.rows += rows.length;
        read.times += 1;
        return rows;
      },
    };
    return { account, counted, read };
  }

  it("read nothing of other accounts, however long the log is", async () => {
    const { counted, read } = await longLog(3_000);
    const { id } = await store.ensureAccount("quiet", 1);
    const streams = createEventStreams(counted, () => true, new FairSchedule());
    const following = streams.follow(followerOf(id), 0, async () => true, stop.signal);
    await nextTurn();
    stop.abort();
    await following;
    expect(read).toEqual({ rows: 0, times: 1 });
    streams.close();
  });

  it("take schedule with others while they catch up, and stop when the reader disconnects", async () => {
    const { account, counted, read } = await longLog(3_000);
    const streams = createEventStreams(counted, () => false, new FairSchedule());
    const following = streams.follow(followerOf(account), 0, async () => true, stop.signal);
    await nextTurn();
    await nextTurn();
    expect(read.times).toBeGreaterThan(0);
    expect(read.rows).toBeLessThan(1_000);
    stop.abort();
    await following;
    const { times } = read;
    for (let i = 0; i < 5; i++) await nextTurn();
    expect(read.times).toBe(times);
    expect(read.rows).toBeLessThan(1_000);
    streams.close();
  });
});

describe("after the database has lost changes", () => {
  it("open streams and those that resume are told to read again, and continue with what is new", async () => {
    const rig = await startPostgresRig();
    const url = await rig.preparedUrl();
    const client = await rig.server.connect(new URL(url).pathname.slice(1));
    const shared = (await rig.open(url)) as unknown as RecordStore;
    const pool = await makePool(shared);
    await pool.add(shared, "192.0.2.1");
    await saveStandby(client);
    const { position: start } = await shared.logEnd();
    const streams = createEventStreams(shared, () => true, new FairSchedule());
    const sent: string[] = [];
    const received = (count: number) =>
      until(() => sent.length === count, { what: () => `${count} events: ${JSON.stringify(sent)}` });
    const { account } = pool.zone;
    const actorNow = async () => ({ account, label: "test", scope: wholeAccount });
    const sink = async (text: string) => sent.push(text) > 0;
    const following = streams.follow({ account, actorNow, shownIds: plainIds }, start, sink, stop.signal);
    await pool.add(shared, "192.0.2.2");
    await received(1);
    const lost = await shared.logEnd();

    await standbyTakesOver(client);
    await received(2);
    const data = JSON.stringify({ asked: lost.position, from: start });
    expect(sent[1]).toBe(`id: ${start}\nevent: cut\ndata: ${data}\n\n`);
    expect(await cutAfter(shared, lost.position, start)).toBe(start);

    // As a nameserver does that has sent out the change.
    const history = await shared.logFrom(lost, 0);
    if (!("placesStillInLog" in history)) throw new Error("the log still has the lost change");
    await history.skipTo(lost.position);
    await pool.add(shared, "192.0.2.3");
    await received(3);
    expect(sent[2]).toContain("192.0.2.3");
    const { position: last } = await shared.logEnd();
    expect(await cutAfter(shared, lost.position, last)).toBe(last);
    for (const kept of [start, last]) expect(await cutAfter(shared, kept, last)).toBeUndefined();

    stop.abort();
    await following;
    streams.close();
    await shared.close();
    await client.end();
  });
});
