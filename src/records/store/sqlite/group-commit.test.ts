import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { createStoreCounters, type StoreCounters } from "../counters.ts";
import { createGroupCommit } from "./group-commit.ts";

let database: DatabaseSync;
let commit: ReturnType<typeof createGroupCommit<number>>;
/** Syncs that the disk has been asked for and has not done yet. */
let asked: { done: () => void; fail: (error: Error) => void }[];
let told: (string | number)[];
let counters: StoreCounters;

beforeEach(() => {
  database = new DatabaseSync(":memory:");
  database.exec("CREATE TABLE t (value INTEGER UNIQUE)");
  asked = [];
  told = [];
  let transactions = 0;
  const edges = {
    begun: () => undefined,
    ending: () => undefined,
    rolledBack: () => void told.push("rolled back"),
    committed: () => ++transactions,
    durable: (transaction: number) => void told.push(transaction),
  };
  const disk = {
    sync: () => new Promise<void>((done, fail) => void asked.push({ done, fail })),
    syncNow: () => void told.push("synced now"),
    close: () => undefined,
  };
  counters = createStoreCounters();
  commit = createGroupCommit(database, edges, disk, counters);
});

const insert = async (value: number) => {
  const answer = await commit(() => void database.prepare("INSERT INTO t VALUES (?)").run(value)).catch(
    (error: Error) => error.message,
  );
  told.push(`answer ${value}${answer === undefined ? "" : `: ${answer}`}`);
};
const stored = () => database.prepare("SELECT value FROM t").all().length;

describe("a group of writes", () => {
  it("is one transaction, answered when the disk has it and those who follow know it", async () => {
    const all = Promise.all([insert(1), insert(2)]);
    await nextTurn();
    expect([stored(), asked.length, told]).toEqual([2, 1, []]);
    asked[0]?.done();
    await all;
    expect(told).toEqual([1, "answer 1", "answer 2"]);
    expect(counters.commitSeconds.sum).toBeGreaterThan(0);
    expect(counters.commitSeconds.sum).toBeLessThan(60);
  });

  it("waits while the disk is busy with the one before it, and grows meanwhile", async () => {
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
    expect(told).toEqual([1, "answer 1", 2, "answer 2", "answer 3"]);
  });

  it("that holds a bad write is taken apart: only that one fails", async () => {
    const all = Promise.all([insert(1), insert(1), insert(2)]);
    await nextTurn();
    expect(stored()).toBe(2);
    asked[0]?.done();
    await all;
    expect(told).toEqual([
      "rolled back",
      "rolled back",
      "answer 1: UNIQUE constraint failed: t.value",
      1,
      2,
      "answer 1",
      "answer 2",
    ]);
    expect(counters).toMatchObject({ writes: 2, failed: 1, commits: 2, waiting: 0 });
  });

  it("that the disk does not take is not answered as done, nor is any write after it, and whoever looks hears why", async () => {
    const first = insert(1);
    await nextTurn();
    expect(commit.trouble()).toBeUndefined();
    asked[0]?.fail(new Error("EIO"));
    await first;
    await insert(2);
    expect(told).toEqual([1, 2].map((each) => `answer ${each}: ${broken}`));
    expect(stored()).toBe(1);
    expect(counters).toMatchObject({ writes: 0, failed: 2, waiting: 0 });
    expect(commit.trouble()?.message).toBe(broken);
  });

  it("is ended when all is closed", async () => {
    const first = insert(1);
    await nextTurn();
    const second = insert(2);
    commit.flush();
    await Promise.all([first, second]);
    expect(told).toEqual(["synced now", 1, 2, "answer 1", "answer 2"]);
  });
});

const broken = "the disk did not take what was written; start the service again";
