import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makePool } from "../../../test/rig/records/pool-of-addresses.ts";
import { wholeAccount } from "../../core/may.ts";
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
    const actor = { account: pool.zone.account, label: "test", scope: wholeAccount };
    const told: string[] = [];
    const follow = () =>
      streams.follow(
        actor,
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
});
