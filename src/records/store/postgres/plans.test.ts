import type pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PostgresRig, startPostgresRig } from "../../../../test/rig/records/postgres.ts";
import { createZoneIn, writeTo } from "../../../../test/rig/store/write.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import { finish } from "../../../core/steps.ts";
import { type Statement, toQuery } from "../../../lib/postgres/statement.ts";
import { plainSettings } from "../../model.ts";
import type { WriteRequest } from "../port.ts";
import { createSqlReads } from "../sql/read.ts";
import { createSqlTokens } from "../sql/tokens.ts";
import { createSqlTransferKeys } from "../sql/transfer-keys.ts";
import { PostgresBatch } from "./batch.ts";
import { loadBatch } from "./batch-read.ts";
import { writeStatements } from "./batch-write.ts";
import { readObstacle } from "./neighbours.ts";
import type { Write } from "./queue.ts";
import { createHotReads } from "./read.ts";
import { postgresSql } from "./sql.ts";
import { createRun } from "./writes.ts";

const writing = (writes: Write<unknown>[]) => {
  const add = <T>(write: Write<T>): Promise<T> => {
    writes.push(write);
    return new Promise(() => undefined);
  };
  return {
    run: createRun({ add, signer: undefined, signFirst: () => Promise.reject(new Error("nothing is signed here")) }),
  };
};

const few = [0, 100, 200, 300, 400];
const account = 1;

let rig: PostgresRig;
let client: pg.Client;
beforeAll(async () => {
  rig = await startPostgresRig();
});
afterAll(() => rig.stop());

/** An empty database without autovacuum: the server has no statistics until a test runs ANALYZE. */
async function urlWithoutStatistics(): Promise<string> {
  const url = await rig.preparedUrl();
  const own = await rig.server.connect(new URL(url).pathname.slice(1));
  await own.query(`DO $$ DECLARE used regclass; BEGIN
      FOR used IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
        LOOP EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = off)', used); END LOOP;
    END $$`);
  await own.end();
  return url;
}

/** This many zones, with this many sets per zone, and a thousand grants and tokens. */
async function fill(zones: number, sets: number): Promise<void> {
  const store = await rig.open(await urlWithoutStatistics());
  client = await store.connect();
  await store.ensureAccount("main", 1);
  const zone = (z: number) => ({
    account,
    id: `z${z}`,
    name: `z${z}.example`,
    settings: plainSettings(600),
    serial: 1,
    created: 1,
    sets: Array.from({ length: sets }, (_, i) => aSet(`h${i}`, `z${z}-h${i}`)),
  });
  await Promise.all(Array.from({ length: zones }, (_, z) => createZoneIn(store, zone(z), "tester")));
  await client.query(
    `INSERT INTO accounts (id, name, created) VALUES (2, 'other', 1);
    INSERT INTO zone_grants (account, name, actor, created)
      SELECT 1, 'g' || g || '.example', 'a', 1 FROM generate_series(1, 1000) AS g;
    INSERT INTO tokens (account, name, hash, scope, created)
      SELECT 2, 't', 'h' || g, '{}', 1 FROM generate_series(1, 1000) AS g`,
  );
  await store.close();
}

const aSet = (owner: string, id: string, value = "192.0.2.1"): RRset => ({
  owner,
  type: "A",
  ttl: null,
  records: [{ id, name: owner, value, rdata: value, comment: "", created: 1, modified: 1 }],
});

/** Records the largest number of rows that any step of a statement's plan reads, and rolls the statement back. */
function createExplainer() {
  const touched: Record<string, number> = {};
  const explain = async ({ name = "", text, values = [] }: Statement) => {
    // Prepared, like the statements of the store: the plan cannot depend on the values.
    const literals = values.map((value) => (value === null ? "NULL" : client.escapeLiteral(toText(value))));
    await client.query(`BEGIN; PREPARE plan AS ${text}`);
    const execute = literals.length === 0 ? "EXECUTE plan" : `EXECUTE plan (${literals.join(", ")})`;
    const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${execute}`);
    await client.query("ROLLBACK; DEALLOCATE plan");
    touched[name] = Math.max(...rowsIn(rows[0]["QUERY PLAN"][0].Plan));
  };
  let before: Promise<unknown> = Promise.resolve();
  /** One after another, on a single connection. */
  const run = (statement: Statement) => {
    const rows = before.then(() => explain(statement)).then(() => client.query(toQuery(statement)));
    before = rows;
    return rows;
  };
  return { run, explain, touched };
}

/** An array as PostgreSQL literal. */
const toText = (value: unknown): string =>
  Array.isArray(value)
    ? `{${value.map((each) => (each === null ? "NULL" : JSON.stringify(String(each)))).join()}}`
    : String(value);

type Plan = Readonly<Record<string, unknown>> & { readonly Plans?: readonly Plan[] };

function rowsIn(plan: Plan): readonly number[] {
  const each = (key: string) => Number(plan[key] ?? 0);
  const left = each("Rows Removed by Filter") + each("Rows Removed by Join Filter");
  return [(each("Actual Rows") + left) * each("Actual Loops"), ...(plan.Plans ?? []).flatMap(rowsIn)];
}

async function looksAtFew(work: (explainer: ReturnType<typeof createExplainer>) => Promise<void>): Promise<void> {
  const explainer = createExplainer();
  await work(explainer);
  expect(Object.keys(explainer.touched)).not.toEqual([]);
  expect(Object.entries(explainer.touched).filter(([, rows]) => rows > 4 * few.length)).toEqual([]);
}

describe.each([
  ["one zone of 1,000 sets", 1, 1_000, (i: number) => ({ zone: "z0", owner: `h${i}`, id: `z0-h${i}` })],
  ["1,000 zones of one set", 1_000, 1, (i: number) => ({ zone: `z${i}`, owner: "h0", id: `z${i}-h0` })],
])("with %s", (_, zones, sets, placeOf) => {
  const places = few.map(placeOf);
  beforeAll(() => fill(zones, sets));
  afterAll(() => client.end());

  describe("and no statistics, PostgreSQL uses indexes", () => {
    usesIndexes(places);
  });

  describe("and statistics, PostgreSQL uses indexes", () => {
    beforeAll(() => client.query("ANALYZE"));
    usesIndexes(places);
  });
});

type Place = { readonly zone: string; readonly owner: string; readonly id: string };

function usesIndexes(places: readonly Place[]): void {
  it("to read records, zones and sets", async () => {
    await looksAtFew(async ({ run }) => {
      const reads = createHotReads({ read: run });
      const lists = createSqlReads(postgresSql({ read: run, transact: never }), never);
      const found = await Promise.all(places.map(async ({ id }) => reads.record(account, id)));
      expect(found.map((placed) => placed?.record.id)).toEqual(places.map(({ id }) => id));
      const above = await Promise.all(places.map(({ zone }) => lists.zoneHolding(`www.${zone}.example`)));
      expect(above.map((zone) => zone?.id)).toEqual(places.map(({ zone }) => zone));
      const homes = await Promise.all(places.map(async ({ zone }) => reads.zone(account, zone)));
      const there = await Promise.all(places.map(({ owner }, i) => reads.sets(homes[i] ?? never(), { owner })));
      expect(there.flat().map((set) => set.records[0]?.id)).toEqual(places.map(({ id }) => id));
    });
  });

  it("to create zones inside, above and beside those of others", async () => {
    await looksAtFew(async ({ run, explain }) => {
      const writes: Write<unknown>[] = [];
      const store = writing(writes);
      const names = ["in.z0.example", "beside.example", "z0.example", "g7.example"];
      for (const name of names)
        void createZoneIn(
          store,
          { account: 2, id: name, name, settings: plainSettings(60), serial: 1, created: 1, sets: [] },
          "t",
        );
      const batch = new PostgresBatch(await loadBatch(run, writes, how), { isAlone: false, mostValues: undefined });
      const made = writes.map((write) => finish(write.run(batch)) as string | { readonly name: string });
      expect(made.map((each) => (typeof each === "string" ? each : each.name))).toEqual([
        "inside-foreign-zone",
        "beside.example",
        "name-taken",
        "g7.example",
      ]);
      for (const statement of finish(writeStatements(batch.outcome(), 1))) await explain(statement);
      const above = {
        account: 2,
        id: "e",
        name: "example",
        settings: plainSettings(60),
        serial: 1,
        created: 1,
        sets: [],
      };
      expect(await readObstacle(run, above)).toBe("above-foreign-zone");
    });
  });

  it("to find secondary zones", async () => {
    await looksAtFew(async ({ run }) => {
      expect(await createSqlTransferKeys(postgresSql({ read: run, transact: never })).secondaryZones()).toEqual([]);
    });
  });

  it("for the overview of an account", async () => {
    await looksAtFew(async ({ run }) => {
      const sql = postgresSql({ read: run, transact: never });
      const lists = createSqlReads(sql, never);
      const [newest, next] = (await lists.latestChanges(account, { limit: few.length })).changes;
      expect(next?.position).toBeLessThan(newest?.position ?? 0);
      expect((await lists.zones(account, { mode: "secondary", page: 1, perPage: few.length })).items).toEqual([]);
      expect(await createSqlTokens(sql).tokens({ account, latest: few.length })).toEqual([]);
    });
  });

  it.each([
    ["records", ({ id }: Place) => ({ record: id })],
    ["zones", ({ zone }: Place) => ({ zone })],
  ])("for writes that refer to %s", async (__, atOf) => {
    await looksAtFew(async ({ run, explain }) => {
      const writes: Write<unknown>[] = [];
      const store = writing(writes);
      for (const place of places) {
        const request: WriteRequest = { account, at: atOf(place), owners: () => [place.owner], actor: "t", now: 2 };
        void writeTo(store, request, () => ({ wanted: [aSet(place.owner, place.id, "192.0.2.9")], result: true }));
      }
      const batch = new PostgresBatch(await loadBatch(run, writes, how), { isAlone: false, mostValues: undefined });
      expect(writes.map((write) => finish(write.run(batch)))).toEqual(places.map(() => true));
      for (const statement of finish(writeStatements(batch.outcome(), 1))) await explain(statement);
    });
  });
}

const ours = { zones: new Set([1]), names: new Set<string>() };
const lock = { kind: "skip", ours, limit: 1_000, usual: 5_000 } as const;
const how = { lock, signer: undefined, alone: false, mostZones: undefined };

function never(): never {
  throw new Error("there is nothing");
}
