import type { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSqlite } from "../../../lib/sqlite/open.ts";
import { sqliteSql } from "../../../lib/sqlite/run-sql.ts";
import type { RunSql } from "../../../lib/sqlite/sql.ts";
import { type LoggedChange, plainSettings, type Zone } from "../../model.ts";
import { createSqlFront } from "../sql/front.ts";
import { createSqlReads } from "../sql/read.ts";
import { createSqlTokens } from "../sql/tokens.ts";
import { prepareNeighbours } from "./neighbours.ts";
import { migrations } from "./schema.ts";

let database: DatabaseSync;
let texts: string[];
let queries: ReturnType<typeof createSqlReads>;
beforeEach(() => {
  database = openSqlite(":memory:", migrations);
  texts = [];
  const prepare = database.prepare.bind(database);
  database.prepare = (text) => {
    texts.push(text);
    return prepare(text);
  };
  queries = createSqlReads(sqliteSql(database), async () => undefined);
});
afterEach(() => database.close());

const account = 1;
const zone: Zone = {
  account,
  id: "z",
  number: 1,
  name: "z.example",
  settings: plainSettings(600),
  serial: 1,
  created: 1,
  modified: 1,
  recordCount: 0,
};
const page = { page: 1, perPage: 25 };

/** The distinct query plans of the statements that this prepares. */
async function waysOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  const before = texts.length;
  await work();
  const ways = texts.slice(before).flatMap((text) => {
    const steps = database.prepare(`EXPLAIN QUERY PLAN ${text}`).all() as { detail: string }[];
    return steps
      .map(({ detail }) => detail)
      .filter((detail) => /\b(?:zones|rrsets|actions|changes|zone_grants|tokens|published_sets)\b/.test(detail));
  });
  return [...new Set(ways)];
}

describe("SQLite uses an index", () => {
  it("for an action that a client polls, however many there are", async () => {
    expect(await waysOf(() => queries.actions(account, { ids: [7], now: 1, ...page }))).toEqual([
      "SEARCH actions USING INTEGER PRIMARY KEY (rowid=?)",
    ]);
    expect(
      await waysOf(() => queries.actions(account, { ids: [7], now: 1, zone: 1, within: ["z.example"], ...page })),
    ).toEqual(["SEARCH actions USING INTEGER PRIMARY KEY (rowid=?)"]);
  });

  it("for one account's part of the log", async () => {
    expect(await waysOf(() => queries.changesAfter(7, 10, account))).toContain(
      "SEARCH changes USING INDEX changes_of_account (account=? AND position>?)",
    );
  });

  it("for the overview of an account: its latest changes, tokens and secondary zones", async () => {
    const overview = async () => {
      await queries.latestChanges(account, { before: 9, limit: 10 });
      await queries.zones(account, { mode: "secondary", ...page });
      await createSqlTokens(sqliteSql(database)).tokens({ account, latest: 10 });
    };
    expect((await waysOf(overview)).filter((way) => !way.includes("accounts"))).toEqual([
      "SEARCH changes USING INDEX changes_of_account (account=? AND position<?)",
      "SEARCH zones USING INDEX secondary_zones_of_account (account=?)",
      "SEARCH tokens USING INDEX tokens_of_account (account=?)",
    ]);
  });

  it("for the sets of one name in a zone", async () => {
    const found = ["SEARCH rrsets USING PRIMARY KEY (zone=? AND owner=?)"];
    expect(await waysOf(() => queries.setPage(zone, { owners: ["www"], ...page }))).toEqual(found);
    expect((await waysOf(() => queries.setPage(zone, { owners: ["www"], types: ["A"], ...page })))[0]).toMatch(
      /^SEARCH rrsets USING PRIMARY KEY \(zone=\? AND owner=\?/,
    );
  });

  it("for the few zones that a token can see", async () => {
    const [way, ...others] = await waysOf(() => queries.zones(account, { within: ["z.example"], ...page }));
    expect([way, others]).toEqual([
      expect.stringMatching(/^SEARCH zones USING (?:COVERING )?INDEX .* \(name=\?\)$/),
      [],
    ]);
  });

  it("for the closest zone; for a zone by its own name, and looks for none of the 126 names above it", async () => {
    const name = Array.from({ length: 127 }, () => "a").join(".");
    const search = expect.stringMatching(/^SEARCH zones USING INDEX .* \(name=\?\)$/);
    expect(await waysOf(() => queries.zoneNamed(name))).toEqual([search]);
    expect(await waysOf(() => queries.zoneHolding(name))).toEqual([search]);
    const values: unknown[] = [];
    const read: RunSql = async (text) => {
      values.push(...text.values);
      return [];
    };
    await createSqlReads({ ...sqliteSql(database), read }, async () => undefined).zoneNamed(name);
    expect(values).toEqual([name]);
  });

  it("for what is above and below a new zone, and for its grants", async () => {
    const ways = await waysOf(async () => prepareNeighbours(database)({ account, name: "www.z.example" }));
    expect(ways).toEqual([
      expect.stringMatching(/^SEARCH zones USING INDEX .* \(name=\?\)$/),
      "SEARCH zones USING INDEX zones_reversed (reversed>? AND reversed<?)",
      expect.stringMatching(/^SEARCH zone_grants USING INDEX zone_grants_once \(account=\? AND name=\?\)$/),
    ]);
  });

  it("and stops reading zones below a new one at the first whose owner has not consented", () => {
    database.exec(
      "INSERT INTO accounts (id, name, created) VALUES (1, 'a', 1), (2, 'b', 1); INSERT INTO zones (number, id, account, name, settings, " +
        "serial, record_count, created, modified) SELECT value, 'z' || value, 2, 'z' || value || '.example', '{}', 1, 0, 1, 1 " +
        "FROM json_each('[1, 2, 3, 4, 5]'); INSERT INTO zone_grants (zone, account, name, actor, created) VALUES (1, 1, 'example', 'b', 1)",
    );
    const { below } = prepareNeighbours(database)({ account, name: "example" });
    expect(below.map(({ name }) => name)).toEqual(["z1.example", "z2.example"]);
  });

  it("for an earlier part of a zone's history", async () => {
    expect(await waysOf(() => queries.historyOf(zone, { before: 9, limit: 1 }))).toEqual([
      "SEARCH changes USING INDEX changes_of_zone (zone=? AND position<?)",
    ]);
  });

  it("for the writes in a part of a zone's history, and for the matching changes of one write", async () => {
    expect(
      await waysOf(() => queries.writesOf(zone, { before: 9, window: 9, match: { owner: "a", type: "A" } })),
    ).toEqual(expect.arrayContaining(["SEARCH changes USING INDEX changes_of_zone (zone=? AND position<?)"]));
    const query = { before: 9, from: 3, serial: 7, match: { owner: "a", actor: "b" }, limit: 1 };
    expect(await waysOf(() => queries.historyOf(zone, query))).toEqual([
      "SEARCH changes USING INDEX changes_of_zone (zone=? AND position>? AND position<?)",
    ]);
  });

  it("for the rest of a write, without scanning the whole history", async () => {
    const change = { position: 9, serial: 7 } as LoggedChange;
    expect(await waysOf(() => queries.precedingInWrite(zone, change))).toEqual([
      "SEARCH changes USING COVERING INDEX changes_of_zone (zone=? AND position>? AND position<?)",
      "SEARCH changes USING COVERING INDEX changes_of_zone (zone=? AND position<?)",
    ]);
  });

  it("for each row of a published set that is replaced", async () => {
    const after = { owner: "www", type: "A", held: null, sent: [{ content: null }], at: 1 } as const;
    const front = createSqlFront(sqliteSql(database));
    expect(await waysOf(() => front.replacePublishedSets(1, [{ before: after, after }]))).toEqual([
      "SEARCH published_sets USING PRIMARY KEY (zone=? AND owner=? AND type=?)",
    ]);
  });
});
