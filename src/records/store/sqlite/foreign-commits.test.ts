import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { watchForeignCommits } from "./foreign-commits.ts";

let ours: DatabaseSync;
let theirs: DatabaseSync;
let told: number;
let foreign: ReturnType<typeof watchForeignCommits>;

beforeEach(() => {
  const path = join(mkdtempSync(join(tmpdir(), "moor-foreign-")), "test.sqlite");
  ours = new DatabaseSync(path);
  ours.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (value TEXT); INSERT INTO t VALUES ('old')");
  theirs = new DatabaseSync(path);
  told = 0;
  foreign = watchForeignCommits(ours);
  foreign.onCommit(() => {
    told += 1;
  });
});

describe("commits of others", () => {
  it("are told of in the turn after they were made, once", async () => {
    foreign.check();
    theirs.exec("UPDATE t SET value = 'new'");
    foreign.check();
    expect(told).toBe(0);
    await nextTurn();
    foreign.check();
    expect(told).toBe(1);
    await nextTurn();
    foreign.check();
    expect(told).toBe(1);
  });

  it("are told of at once to who holds the lock", () => {
    foreign.check();
    theirs.exec("UPDATE t SET value = 'new'");
    ours.exec("BEGIN IMMEDIATE");
    foreign.checkLocked();
    expect(told).toBe(1);
    ours.exec("ROLLBACK");
  });

  it("are not our own", async () => {
    foreign.check();
    ours.exec("UPDATE t SET value = 'new'");
    await nextTurn();
    foreign.check();
    expect(told).toBe(0);
  });
});
