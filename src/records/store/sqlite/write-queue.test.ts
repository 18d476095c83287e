import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import type { LoggedRow } from "../../model.ts";
import { createStoreCounters, type StoreCounters } from "../counters.ts";
import { runBatch, WriteQueue } from "./write-queue.ts";

let database: DatabaseSync;
let queue: WriteQueue;
/** Syncs that were requested and are not done yet. */
let asked: { done: () => void; fail: (error: Error) => void }[];
let events: (string | number)[];
let counters: StoreCounters;

beforeEach(() => {
  database = new DatabaseSync(":memory:");
  database.exec("CREATE TABLE t (value INTEGER UNIQUE)");
  asked = [];
  events = [];
  let transactions = 0;
  const hooks = {
    afterBegin: () => undefined,
    beforeCommit: () => undefined,
    afterRollback: () => void events.push("rolled back"),
    afterCommit: () => [row(++transactions)],
  };
  const disk = {
    sync: () => new Promise<void>((done, fail) => void asked.push({ done, fail })),
    syncNow: () => void events.push("synced now"),
    close: () => undefined,
  };
  counters = createStoreCounters();
  queue = new WriteQueue({
    disk,
    counters,
    run: (works) => runBatch(database, hooks, works),
    onDurable: (rows) => void events.push(...rows.map(({ position }) => position)),
  });
});

const row = (position: number): LoggedRow => ({
  position,
  account: 1,
  zone: 1,
  zoneName: "a.example",
  serial: 1,
  at: 1,
  actor: "tester",
  change: { kind: "signatures", sets: null },
});

const insert = async (value: number) => {
  const answer = await queue
    .commit(() => void database.prepare("INSERT INTO t VALUES (?)").run(value))
    .catch((error: Error) => error.message);
  events.push(`answer ${value}${answer === undefined ? "" : `: ${answer}`}`);
};
const stored = () => database.prepare("SELECT value FROM t").all().length;

describe("a group of writes", () => {
  it("is one transaction, answered when it is on disk and followers are notified", async () => {
    const all = Promise.all([insert(1), insert(2)]);
    await nextTurn();
    expect([stored(), asked.length, events]).toEqual([2, 1, []]);
    asked[0]?.done();
    await all;
    expect(events).toEqual([1, "answer 1", "answer 2"]);
    expect(counters.commitSeconds.sum).toBeGreaterThan(0);
    expect(counters.commitSeconds.sum).toBeLessThan(60);
  });

  it("grows while the disk is busy with the previous one", async () => {
    const all = [insert(1)];
    await nextTurn();
    all.push(insert(2));
    await nextTurn();
    all.push(insert(3));
    await nextTurn();
    expect([stored(), asked.length]).toEqual([1, 1]);
    asked[0]?.done();
    await nextTurn();
    await nextTurn();
    expect([stored(), asked.length]).toEqual([3, 2]);
    asked[1]?.done();
    await Promise.all(all);
    expect(events).toEqual([1, "answer 1", 2, "answer 2", "answer 3"]);
  });

  it("with a bad write is split up: only that one fails", async () => {
    const all = Promise.all([insert(1), insert(1), insert(2)]);
    await nextTurn();
    expect(stored()).toBe(2);
    asked[0]?.done();
    await all;
    expect(events).toEqual([
      "rolled back",
      "rolled back",
      1,
      2,
      "answer 1",
      "answer 1: UNIQUE constraint failed: t.value",
      "answer 2",
    ]);
    expect(counters).toMatchObject({ writes: 2, failed: 1, commits: 2, waiting: 0 });
  });

  it("fails if the disk fails, as does every later write, and the health check says why", async () => {
    const first = insert(1);
    await nextTurn();
    expect(queue.trouble).toBeUndefined();
    asked[0]?.fail(new Error("EIO"));
    await first;
    await insert(2);
    expect(events).toEqual([1, 2].map((each) => `answer ${each}: ${broken}`));
    expect(stored()).toBe(1);
    expect(counters).toMatchObject({ writes: 0, failed: 2, waiting: 0 });
    expect(queue.trouble?.message).toBe(broken);
  });

  it("leaves nothing to do when it is settled", async () => {
    const all = insert(1);
    await nextTurn();
    asked[0]?.done();
    await all;
    await nextTurn();
    expect(process.getActiveResourcesInfo().filter((kind) => kind === "Immediate")).toEqual([]);
  });

  it("is finished before the database is closed", async () => {
    const first = insert(1);
    await nextTurn();
    const second = insert(2);
    queue.flush();
    await Promise.all([first, second]);
    expect(events).toEqual(["synced now", 1, 2, "answer 1", "answer 2"]);
  });
});

it("a batch that another program keeps from the lock fails as a whole, after one try", () => {
  let tries = 0;
  const busy = Object.assign(new Error("database is locked"), { errcode: 5 });
  const works = [1, 2].map(() => () => {
    tries += 1;
    throw busy;
  });
  const nothing = () => undefined;
  const hooks = { afterBegin: nothing, beforeCommit: nothing, afterRollback: nothing, afterCommit: () => [] };
  expect(runBatch(database, hooks, works)).toEqual({
    outcomes: [{ error: busy }, { error: busy }],
    rows: [],
    commits: 0,
  });
  expect(tries).toBe(1);
});

describe("a transaction of another connection", () => {
  let end: (result: string | undefined) => void;
  const apart = async () => {
    const ended = new Promise<string | undefined>((resolve) => {
      end = resolve;
    });
    const result = await queue
      .onOtherConnection(async () => {
        const text = await ended;
        return text === undefined ? undefined : { result: text, committed: [row(99)] };
      })
      .catch((error: Error) => error.message);
    events.push(`answer ${result}`);
  };

  it("delays only later writes, and is announced in the order of the commits", async () => {
    const all = [insert(1), apart()];
    await nextTurn();
    all.push(insert(2));
    await nextTurn();
    expect([stored(), asked.length]).toEqual([1, 1]);
    asked[0]?.done();
    await nextTurn();
    expect(events).toEqual([1, "answer 1"]);
    end("apart");
    await nextTurn();
    await nextTurn();
    expect([stored(), asked.length]).toEqual([1, 2]);
    asked[1]?.done();
    await nextTurn();
    await nextTurn();
    expect([stored(), asked.length]).toEqual([2, 3]);
    asked[2]?.done();
    await Promise.all(all);
    expect(events.slice(2).filter((event) => typeof event === "number")).toEqual([99, 2]);
    expect(counters).toMatchObject({ writes: 3, waiting: 0 });
  });

  it("is not confirmed by a sync that began before its commit", async () => {
    const all = [insert(1)];
    await nextTurn();
    all.push(apart());
    await nextTurn();
    end("apart");
    await nextTurn();
    asked[0]?.done();
    await nextTurn();
    await nextTurn();
    expect([events, asked.length]).toEqual([[1, "answer 1"], 2]);
    asked[1]?.done();
    await Promise.all(all);
    expect(events.slice(2)).toEqual([99, "answer apart"]);
  });

  it("that changes nothing needs no sync, and the next one gets its turn", async () => {
    const first = apart();
    await nextTurn();
    const endFirst = end;
    const second = apart();
    endFirst(undefined);
    await first;
    await nextTurn();
    end("second");
    await nextTurn();
    await nextTurn();
    asked[0]?.done();
    await second;
    expect(events).toEqual(["answer undefined", 99, "answer second"]);
    expect(counters).toMatchObject({ waiting: 0, failed: 0 });
  });

  it("is not begun after the disk has failed", async () => {
    const first = insert(1);
    await nextTurn();
    asked[0]?.fail(new Error("EIO"));
    await first;
    await apart();
    expect(events.at(-1)).toBe(`answer ${broken}`);
    expect(counters).toMatchObject({ waiting: 0, failed: 2 });
  });
});

const broken = "writing to the disk failed; restart the service";
