import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makePool } from "../../../test/rig/records/pool-of-addresses.ts";
import { type Scope, wholeAccount } from "../../core/may.ts";
import { noVeil } from "../service/veiled-numbers.ts";
import { openSqliteStore, type SqliteStore } from "../store/sqlite/store.ts";
import { createEventStreams } from "./change-events.ts";

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
  it("begin again where they were when the log could not be read for a while", async () => {
    const pool = await makePool(store);
    const start = await store.lastChange();
    let away = true;
    const streams = createEventStreams(
      {
        ...store,
        changesAfter: (position, limit) =>
          away ? Promise.reject(new Error("away")) : store.changesAfter(position, limit),
      },
      () => true,
    );
    const { account } = pool.zone;
    const actorNow = async () => ({ account, label: "test", scope: wholeAccount });
    const told: string[] = [];
    const follow = () =>
      streams.follow(
        { account, actorNow, veil: noVeil },
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

  /** What a follower is sent of changes that come one by one, with the scope that it has at each of them. */
  async function sentWith(scopes: readonly (Scope | undefined)[]): Promise<readonly string[]> {
    const pool = await makePool(store);
    const streams = createEventStreams(store, (actor, { zoneName }) => actor.scope.zones?.includes(zoneName) ?? true);
    const { account } = pool.zone;
    const sent: string[] = [];
    let asked = 0;
    const actorNow = async () => {
      const scope = scopes[asked];
      asked += 1;
      return scope && { account, label: "test", scope };
    };
    const sink = async (text: string) => sent.push(text) > 0;
    const done = streams.follow({ account, actorNow, veil: noVeil }, await store.lastChange(), sink, stop.signal);
    for (const [i] of scopes.entries()) {
      await pool.add(store, `192.0.2.${i}`);
      await expect.poll(() => asked).toBe(i + 1);
    }
    if (!scopes.includes(undefined)) stop.abort();
    await done;
    streams.close();
    return sent.map((text) => /192\.0\.2\.\d+(?!.*192)/.exec(text)?.[0] ?? text);
  }

  it("end without another event when access was taken away", async () => {
    expect(await sentWith([wholeAccount, undefined])).toEqual(["192.0.2.0"]);
  });

  it("follow the scope as it is when each event is sent", async () => {
    const elsewhere = { ...wholeAccount, zones: ["other.example"] };
    expect(await sentWith([wholeAccount, elsewhere, wholeAccount])).toEqual(["192.0.2.0", "192.0.2.2"]);
  });
});
