import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makePool, poolOf } from "../../../test/rig/records/pool-of-addresses.ts";
import { type PostgresRig, startPostgresRig } from "../../../test/rig/records/postgres.ts";
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

/** A database that can be migrated to a schema, changed with SQL, and opened as a store. */
type Lab = {
  readonly migrate: (steps: readonly MigrationStep[]) => Promise<void>;
  readonly exec: (sql: string) => Promise<void>;
  readonly open: (steps?: readonly MigrationStep[]) => Promise<RecordStore>;
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
      exec: async (sql) => use((database) => database.exec(sql)),
      open: async (steps) => openSqliteStore(path, steps),
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
      exec: async (sql) => void (await query(sql)),
      open: (steps) => rig.open(url, steps && { migrations: steps }),
      columns: async () => {
        const text = `SELECT table_name || '.' || column_name AS at FROM information_schema.columns
           WHERE table_schema = 'public' ORDER BY (table_name || '.' || column_name) COLLATE "C"`;
        return (await query(text)).rows.map((row) => row.at);
      },
    };
  },
};

const settings = '{"ttl":60,"mode":"primary","labels":{},"locked":false,"primaries":[]}';
const record =
  '[{"id":"r","name":"www","value":"192.0.2.1","rdata":"192.0.2.1","comment":"","created":1,"modified":1}]';
/** Rows for the tables that each step created. */
const written = [
  `INSERT INTO accounts (id, name, created) VALUES (1000, 'old', 1);
   INSERT INTO zones (number, id, account, name, settings, serial, record_count, created, modified)
     VALUES (1000, 'z', 1000, 'old.example', '${settings}', 7, 1, 1, 1);
   INSERT INTO accounts (id, name, created) VALUES (1001, 'other', 1);
   INSERT INTO zones (number, id, account, name, settings, serial, record_count, created, modified)
     VALUES (1001, 'in', 1001, 'in.old.example', '${settings}', 7, 0, 1, 1);
   INSERT INTO rrsets (zone, owner, type, records) VALUES (1000, 'www', 'A', '${record}');
   INSERT INTO record_ids (id, zone, owner, type) VALUES ('r', 1000, 'www', 'A');`,
  "INSERT INTO console_passwords (account, hash, changed) VALUES (1000, 'h', 1);",
  `INSERT INTO transfer_keys (name, algorithm, secret, scope, created)
     VALUES ('k', 'hmac-sha256', 's', '{"access":"write"}', 1);`,
];

describe("the schemas", () => {
  it("have the same steps, and the same tables and columns after each", async () => {
    expect(postgresMigrations).toHaveLength(migrations.length);
    for (let taken = 1; taken <= migrations.length; taken += 1) {
      const [ours, theirs] = await Promise.all(
        [sqlite, postgres].map(async ({ lab, steps }) => {
          const opened = await lab();
          await opened.migrate(steps.slice(0, taken));
          return await opened.columns();
        }),
      );
      const own = /^(?:(?:log_head|commit_marks|rate_budgets|schema_version|schema_oldest)\.|changes\.link\b)/;
      const [common, same] = [theirs, ours].map((columns) => columns?.filter((column) => !own.test(column)));
      expect(common).toEqual(same);
    }
  });
});

describe.for([sqlite, postgres])("$name", ({ steps, lab }) => {
  it.for(steps.map((_, i) => i + 1))("is upgraded from step %i, with its content", async (taken) => {
    const { migrate, exec, open } = await lab();
    await migrate(steps.slice(0, taken));
    await exec(written.slice(0, taken).join("\n"));
    const store = await open();
    const zone = await store.zone(1000, "z");
    expect(zone).toMatchObject({ name: "old.example", serial: 7 });
    expect(await store.record(1000, "r")).toMatchObject({ owner: "www", record: { value: "192.0.2.1" } });
    if (zone !== undefined) await poolOf(zone).add(store, "192.0.2.9");
    expect((await store.zone(1000, "z"))?.recordCount).toBe(2);
    expect(await store.transferKeys()).toHaveLength(taken >= 3 ? 1 : 0);
    // Zones from before grants were required still work, and count as neighbours of new ones.
    expect(await store.zoneHolding("www.in.old.example")).toMatchObject({ name: "in.old.example", account: 1001 });
    expect(await store.obstacleTo({ account: 1000, name: "deep.old.example" })).toBeUndefined();
    expect(await store.obstacleTo({ account: 1001, name: "example" })).toBe("above-foreign-zone");
    expect(await store.obstacleTo({ account: 1000, name: "a.in.old.example" })).toBe("inside-foreign-zone");
    await store.close();
  });

  it("is upgraded once if many processes start at the same time", async () => {
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
