import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { watchOtherCommits } from "./other-commits.ts";

let ours: DatabaseSync;
let theirs: DatabaseSync;
let noticed: number;
let otherCommits: ReturnType<typeof watchOtherCommits>;

beforeEach(() => {
  const path = join(mkdtempSync(join(tmpdir(), "moor-otherCommits-")), "test.sqlite");
  ours = new DatabaseSync(path);
  ours.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (value TEXT); INSERT INTO t VALUES ('old')");
  theirs = new DatabaseSync(path);
  noticed = 0;
  otherCommits = watchOtherCommits(ours);
  otherCommits.onCommit(() => {
    noticed += 1;
  });
});

describe("commits of other connections", () => {
  it("are noticed once, in the next turn of the event loop", async () => {
    otherCommits.check();
    theirs.exec("UPDATE t SET value = 'new'");
    otherCommits.check();
    expect(noticed).toBe(0);
    await nextTurn();
    otherCommits.check();
    expect(noticed).toBe(1);
    await nextTurn();
    otherCommits.check();
    expect(noticed).toBe(1);
  });

  it("are noticed immediately by the holder of the write lock", () => {
    otherCommits.check();
    theirs.exec("UPDATE t SET value = 'new'");
    ours.exec("BEGIN IMMEDIATE");
    otherCommits.checkNow();
    expect(noticed).toBe(1);
    ours.exec("ROLLBACK");
  });

  it("do not include our own", async () => {
    otherCommits.check();
    ours.exec("UPDATE t SET value = 'new'");
    await nextTurn();
    otherCommits.check();
    expect(noticed).toBe(0);
  });
});
