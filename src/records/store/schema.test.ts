import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makePool } from "../../../test/rig/records/pool-of-addresses.ts";
import { type PostgresRig, startPostgresRig } from "../../../test/rig/records/postgres.ts";
import { startProcess } from "../../../test/rig/started-process.ts";
import { migratePostgres } from "../../lib/postgres/migrate.ts";
import type { MigrationStep } from "../../lib/sqlite/migration-steps.ts";
import { openSqlite } from "../../lib/sqlite/open.ts";
import type { RecordStore } from "./port.ts";
import { postgresMigrations } from "./postgres/schema.ts";
import { migrations } from "./sqlite/schema.ts";
import { openSqliteStore } from "./sqlite/store.ts";

let rig: PostgresRig;
beforeAll(async () => {
  rig = await startPostgresRig();
});
afterAll(() => rig.stop());

/** A database that can be migrated to a schema and opened as a store. */
type Lab = {
  readonly migrate: (steps: readonly MigrationStep[]) => Promise<void>;
  readonly open: (steps?: readonly MigrationStep[]) => Promise<RecordStore>;
  readonly execute: (text: string) => Promise<void>;
  readonly columns: () => Promise<readonly string[]>;
};
type Dialect = { readonly name: string; readonly steps: readonly MigrationStep[]; readonly lab: () => Promise<Lab> };

const sqlite: Dialect = {
  name: "SQLite",
  steps: migrations,
  lab: async () => {
    const path = join(mkdtempSync(join(tmpdir(), "moor-schema-")), "records.sqlite");
    const use = <T>(work: (database: DatabaseSync) => T): T => {
      const database = new DatabaseSync(path);
      try {
        return work(database);
      } finally {
        database.close();
      }
    };
    return {
      migrate: async (steps) => openSqlite(path, steps).close(),
      open: async (steps) => openSqliteStore(path, steps),
      execute: async (text) => use((database) => database.exec(text)),
      columns: async () => {
        const text =
          "SELECT t.name || '.' || c.name AS at FROM sqlite_schema t, pragma_table_info(t.name) c " +
          "WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' ORDER BY 1";
        return use((database) => database.prepare(text).all()).map((row) => String(row.at));
      },
    };
  },
};

const postgres: Dialect = {
  name: "PostgreSQL",
  steps: postgresMigrations,
  lab: async () => {
    const url = await rig.freshUrl();
    const name = new URL(url).pathname.slice(1);
    const query = async (text: string) => {
      const client = await rig.server.connect(name);
      try {
        return await client.query<{ at: string }>(text);
      } finally {
        await client.end();
      }
    };
    return {
      migrate: (steps) => migratePostgres(() => rig.server.connect(name), name, steps),
      open: (steps) => rig.open(url, steps && { migrations: steps }),
      execute: async (text) => void (await query(text)),
      columns: async () => {
        const text = `SELECT table_name || '.' || column_name AS at FROM information_schema.columns
           WHERE table_schema = 'public' ORDER BY (table_name || '.' || column_name) COLLATE "C"`;
        return (await query(text)).rows.map((row) => row.at);
      },
    };
  },
};

describe("the schemas", () => {
  it("have the same number of steps, and the same tables and columns", async () => {
    expect(postgresMigrations).toHaveLength(migrations.length);
    const [ours, theirs] = await Promise.all(
      [sqlite, postgres].map(async ({ lab, steps }) => {
        const opened = await lab();
        await opened.migrate(steps);
        return await opened.columns();
      }),
    );
    const own = /^(?:(?:log_head|commit_marks|rate_budgets|schema_version)\.|changes\.link\b)/;
    const common = theirs?.filter((column) => !own.test(column));
    expect(common).toEqual(ours);
  });
});

describe.for([sqlite, postgres])("$name", ({ steps, lab }) => {
  it("takes a later step, and keeps its content", async () => {
    const { open } = await lab();
    const old = await open();
    const pool = await makePool(old);
    await pool.add(old, "192.0.2.1");
    await old.close();
    const store = await open([...steps, "ALTER TABLE zones ADD COLUMN note TEXT"]);
    await pool.add(store, "192.0.2.2");
    expect((await pool.look(store)).values).toEqual(["192.0.2.1", "192.0.2.2"]);
    await store.close();
  });

  it("keeps requests to a provider whose outcome is not known, from the time when there was one per set", async () => {
    const { migrate, execute, open } = await lab();
    await migrate(steps.slice(0, 1));
    await execute(`INSERT INTO accounts (id, name, created) VALUES (1, 'main', 1)`);
    await execute(
      `INSERT INTO zones (number, id, account, name, settings, serial, record_count, created, modified)
       VALUES (1, 'z', 1, 'home.example.org', '{}', 1, 0, 1, 1)`,
    );
    await execute("INSERT INTO published_zones (zone, through, waiting, read_at) VALUES (1, 0, 0, 0)");
    const content = { ttl: 60, values: ["192.0.2.1"] };
    for (const [owner, sent] of Object.entries({ lost: JSON.stringify(content), gone: "null" }))
      await execute(
        `INSERT INTO published_sets (zone, owner, type, held, sent, at) VALUES (1, '${owner}', 'A', 'null', '${sent}', 1)`,
      );
    await execute("INSERT INTO published_sets (zone, owner, type, held, at) VALUES (1, 'none', 'A', 'null', 1)");
    const store = await open();
    const rows = await store.publishedSetsAfter(1, undefined, 9);
    expect(rows.map(({ owner, sent }) => [owner, sent])).toEqual([
      ["gone", [{ content: null }]],
      ["lost", [{ content }]],
      ["none", undefined],
    ]);
    await store.close();
  });

  it("is created once if many processes start at the same time", async () => {
    const { open } = await lab();
    const stores = await Promise.all(Array.from({ length: 4 }, () => open()));
    expect((await Promise.all(stores.map((store) => store.ensureAccount("main", 1)))).map(({ id }) => id)).toHaveLength(
      4,
    );
    for (const store of stores) await store.close();
  });

  it("is refused by a version that is too old for it, with what to do", async () => {
    const { migrate, open } = await lab();
    await migrate([...steps, "CREATE TABLE later (id INTEGER)"]);
    await expect(open()).rejects.toThrow(/newer moor[\s\S]*start the newer version/);
  });

  it("can be shared by two versions if the newer step only adds", async () => {
    const { open } = await lab();
    const next = [...steps, { sql: "ALTER TABLE zones ADD COLUMN note TEXT", oldest: steps.length }];
    const old = await open();
    const pool = await makePool(old);
    const newer = await open(next);
    const writes = Array.from({ length: 20 }, (_, i) => pool.add(i % 2 === 0 ? old : newer, `192.0.2.${i}`));
    await Promise.all(writes);
    expect((await pool.look(old)).values).toHaveLength(20);
    await old.close();
    const reopened = await open();
    await pool.add(reopened, "192.0.2.100");
    expect(await pool.look(newer)).toEqual(await pool.look(reopened));
    expect((await pool.look(newer)).writes).toBe(21);
    await reopened.close();
    await newer.close();
  });
});

it("a SQLite file can be read and changed with the sqlite3 of Debian 12 (3.40)", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "moor-sqlite3-")), "records.sqlite");
  openSqlite(path, migrations).close();
  const run = (text: string) => startProcess(["sqlite3", path, text], { env: process.env }).ended;
  const account = "INSERT INTO accounts VALUES (1, 'main', 1);";
  const zone = "INSERT INTO zones VALUES (1, 'z', 1, 'home.example.org', '{}', 1, 0, 1, 1, NULL, NULL)";
  expect(await run(account + zone)).toMatchObject({ code: 0, err: "" });
  const { out } = await run("SELECT name, reversed FROM zones; PRAGMA integrity_check");
  expect(out).toBe("home.example.org|org example home\nok\n");
});
