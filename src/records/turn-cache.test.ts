import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { createTurnCache } from "./turn-cache.ts";

let ours: DatabaseSync;
let theirs: DatabaseSync;
let looked: string[];
let cache: ReturnType<typeof createTurnCache<string>>;

beforeEach(() => {
  const path = join(mkdtempSync(join(tmpdir(), "moor-turn-cache-")), "test.sqlite");
  ours = new DatabaseSync(path);
  ours.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (value TEXT); INSERT INTO t VALUES ('old')");
  theirs = new DatabaseSync(path);
  looked = [];
  const select = ours.prepare("SELECT value FROM t");
  cache = createTurnCache(ours, (key) => {
    looked.push(key);
    return key === "known" ? (select.get() as { value: string }).value : undefined;
  });
});

describe("a turn cache", () => {
  it("looks once as long as nobody else writes", async () => {
    for (let turn = 0; turn < 3; turn += 1) {
      expect(cache.get("known")).toBe("old");
      await nextTurn();
    }
    expect(looked).toEqual(["known"]);
  });

  it("looks again in the turn after another connection has written", async () => {
    expect(cache.get("known")).toBe("old");
    theirs.exec("UPDATE t SET value = 'new'");
    await nextTurn();
    expect(cache.get("known")).toBe("new");
  });

  it("looks again when it is told to", () => {
    expect(cache.get("known")).toBe("old");
    ours.exec("UPDATE t SET value = 'new'");
    cache.clear();
    expect(cache.get("known")).toBe("new");
  });

  it("keeps nothing for keys that are not there", () => {
    expect(cache.get("made up")).toBeUndefined();
    expect(cache.get("made up")).toBeUndefined();
    expect(looked).toEqual(["made up", "made up"]);
  });
});
