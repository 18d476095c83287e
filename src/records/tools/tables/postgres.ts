import type pg from "pg";
import { reasonOf } from "../../../lib/postgres/faults.ts";
import { runSteps, schemaOf } from "../../../lib/postgres/migrate.ts";
import { PostgresHosts, type PostgresLimits, usualLimits } from "../../../lib/postgres/open.ts";
import { endClient } from "../../../lib/postgres/session.ts";
import type { PostgresAddress } from "../../../lib/postgres/url.ts";
import { DatabaseTrouble } from "../../../lib/sqlite/migration-steps.ts";
import { postgresMigrations } from "../../store/postgres/schema.ts";
import { type SqlConnection, tablesOver } from "./sql.ts";
import {
  type CopyTarget,
  everyTable,
  keyNames,
  type Row,
  storeTables,
  type Table,
  type TablesUse,
  type WritableTables,
} from "./table.ts";

/** Reads one consistent state of a database that nodes may be writing to. */
export async function readPostgresTables(
  address: PostgresAddress,
  use: TablesUse,
  signal?: AbortSignal,
): Promise<WritableTables> {
  const client = await connectTo(address, wholeLimits, signal);
  return await orEnd(client, async () => {
    await expectUsable(client, address, use);
    await expectCounters(client, address);
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    return tablesOver(connectionOver(client, address, signal));
  });
}

/** For deleting a few rows at a time from a database that is in use. */
export async function trimPostgresTables(address: PostgresAddress, limits = trimLimits): Promise<WritableTables> {
  const client = await connectTo(address, limits);
  return await orEnd(client, async () => {
    await expectUsable(client, address, "look");
    return tablesOver(connectionOver(client, address));
  });
}

/**
 * The target of a copy: an empty database. The copy is one transaction, so an interruption leaves nothing behind, and
 * nodes that start meanwhile wait for its end to look at the schema.
 */
export async function writePostgresTables(address: PostgresAddress, signal?: AbortSignal): Promise<CopyTarget> {
  const client = await connectTo(address, wholeLimits, signal);
  return await orEnd(client, async () => {
    await client.query("BEGIN");
    await runSteps(client, address.shown, postgresMigrations).catch((error: unknown) => {
      throw error instanceof DatabaseTrouble ? error : asTrouble(error, address.shown, signal);
    });
    if (await holdsData(client))
      throw new DatabaseTrouble(`the database ${address.shown} already holds data; create an empty one and use that.`);
    const finish = async () => {
      await client.query("COMMIT");
      // Autovacuum would collect statistics only a minute later, with bad plans until then. The copy is complete
      // without them.
      const names = everyTable.map(({ name }) => name).join(", ");
      await client.query(`ANALYZE ${names}`).catch(() => undefined);
    };
    return { tables: tablesOver(connectionOver(client, address, signal)), finish };
  });
}

/** 0 means no limit. */
type Limits = Pick<PostgresLimits, "connect" | "lock" | "statement">;

/** For tools that read everything: a statement may take any time. */
const wholeLimits: Limits = { connect: 10_000, lock: 0, statement: 0 };
/** One statement deletes a write of up to half a million records. */
const trimLimits: Limits = { connect: usualLimits.connect, lock: usualLimits.lock, statement: 60_000 };

/**
 * The driver does not send a limit of 0, so the server's defaults would apply. Not every version knows all of these
 * settings.
 */
const withoutLimits = `SELECT set_config(name, '0', false) FROM pg_settings WHERE name IN ('statement_timeout',
  'lock_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout', 'transaction_timeout')`;

async function connectTo(address: PostgresAddress, limits: Limits, signal?: AbortSignal): Promise<pg.Client> {
  const { connect, lock, statement } = limits;
  const config = {
    connectionTimeoutMillis: connect,
    lock_timeout: lock,
    statement_timeout: statement,
    // A server that vanished cannot enforce its own timeout.
    query_timeout: statement && statement + 2_000,
  };
  try {
    const client = await new PostgresHosts(address).connect(config, signal);
    if (statement === 0) await client.query(withoutLimits);
    return client;
  } catch (error) {
    throw asTrouble(error, address.shown, signal);
  }
}

function asTrouble(error: unknown, shown: string, signal?: AbortSignal): unknown {
  if (signal?.aborted) return signal.reason;
  return new DatabaseTrouble(`the database ${shown} cannot be used: ${reasonOf(error)}`, { cause: error });
}

async function orEnd<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await endClient(client);
    throw error;
  }
}

async function holdsData(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query("SELECT 1 FROM accounts UNION ALL SELECT 1 FROM changes LIMIT 1");
  return rows.length > 0;
}

/**
 * With a newer schema that is still compatible, this version knows everything it must keep consistent, but not
 * everything there is to copy.
 */
async function expectUsable(client: pg.Client, { shown }: PostgresAddress, use: TablesUse): Promise<void> {
  const stepCount = postgresMigrations.length;
  const { taken, oldest } = await schemaOf(client);
  if (taken === stepCount || (taken > stepCount && oldest <= stepCount && use === "look")) return;
  if (taken < stepCount) throw new DatabaseTrouble(`the database ${shown} does not contain a moor store.`);
  throw new DatabaseTrouble(
    `the database ${shown} was written by a newer moor (schema ${taken}, this version supports ${stepCount}); ` +
      `use the newer version${use === "copy" ? ", or pg_dump: this version would leave out what it does not know" : ""}.`,
  );
}

/** To a role without the privilege, PostgreSQL reports a sequence as unused. */
async function expectCounters(client: pg.Client, { shown }: PostgresAddress): Promise<void> {
  const counters = everyTable.filter(({ counted }) => counted).map(sequenceOf);
  const { rows } = await client.query<{ role: string; schema: string }>(
    "SELECT quote_ident(current_user) AS role, quote_ident(current_schema()) AS schema " +
      `FROM unnest(ARRAY[${counters.join(", ")}]) AS counter WHERE NOT has_sequence_privilege(counter, 'USAGE, SELECT')`,
  );
  const [hidden] = rows;
  if (hidden === undefined) return;
  const { role, schema } = hidden;
  throw new DatabaseTrouble(
    `${role} has no permission to read the sequences of the database ${shown}; ` +
      `ask its owner to run: GRANT SELECT ON ALL SEQUENCES IN SCHEMA ${schema} TO ${role}`,
  );
}

function connectionOver(client: pg.Client, { shown }: PostgresAddress, signal?: AbortSignal): SqlConnection {
  let lost: Error | undefined;
  client.on("error", (error) => {
    lost ??= error;
  });
  const all: SqlConnection["all"] = async (text, values) => {
    try {
      return (await client.query({ text, values: [...values], rowMode: "array" })).rows as Row[];
    } catch (error) {
      // A query on a closed connection does not say why it was closed.
      throw asTrouble(lost ?? error, shown, signal);
    }
  };
  const number = async (text: string) => Number((await all(text, []))[0]?.[0] ?? 0);
  return {
    name: shown,
    all,
    run: async (text, values) => void (await all(text, values)),
    mark: (at, kind) => `$${at}::${kind === "number" ? "bigint" : "text"}`,
    // The schema declares key columns with a bytewise collation.
    byBytes: "",
    lastNumber: (table) =>
      table === storeTables.changes
        ? number("SELECT position FROM log_head")
        : number(`SELECT pg_sequence_last_value(${sequenceOf(table)})`),
    setLastNumber: async (table, last) => {
      if (table === storeTables.changes) await all("UPDATE log_head SET position = $1", [last]);
      else await all(`SELECT setval(${sequenceOf(table)}, greatest($1, 1), $1 > 0)`, [last]);
    },
    // PostgreSQL verifies its pages when it reads them.
    damage: async () => [],
    close: () => endClient(client),
  };
}

const sequenceOf = (table: Table): string =>
  `pg_get_serial_sequence('${table.name}', '${keyNames(table)[0]}')::regclass`;
