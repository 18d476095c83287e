import { randomUUID } from "node:crypto";
import type { Client } from "pg";
import type { Logger } from "../../process/log.ts";
import { StoreBusy } from "../limits/store-busy.ts";
import {
  DatabaseTrouble,
  type MigrationStep,
  type SchemaState,
  stateAfter,
  stepsFor,
  tooNew,
} from "../sqlite/migration-steps.ts";
import { poolerTodo, reasonOf } from "./faults.ts";
import type { Postgres } from "./open.ts";
import { endClient } from "./session.ts";

/** Advisory locks are numbers: "moor", and which of its locks. */
const lock = "1836019570, 2";

/** The channel that notifies running nodes of new schema steps. */
export const schemaChannel = "moor_schema";
const schemaStatement = "SELECT taken, oldest FROM schema_version";

/**
 * Runs the steps that the database does not have yet, all or none. If several nodes start at the same time, one of them
 * does it.
 */
export async function migratePostgres(
  connect: () => Promise<Client>,
  shown: string,
  steps: readonly MigrationStep[],
): Promise<void> {
  let client: Client | undefined;
  try {
    client = await connect();
    await expectOwnSession(client, connect);
    if (stepsFor(steps, await schemaOf(client)).length === 0) return;
    // Migrating a large database takes long, and so does waiting for a node that is doing it now.
    await client.query("SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0");
    await client.query("BEGIN");
    await runSteps(client, shown, steps);
    await client.query("COMMIT");
  } catch (error) {
    if (error instanceof DatabaseTrouble) throw error;
    throw new DatabaseTrouble(`the database ${shown} cannot be used: ${reasonOf(error)}`, { cause: error });
  } finally {
    // Ending the connection rolls back what was not committed.
    if (client !== undefined) await endClient(client);
  }
}

/** Runs the missing steps in the transaction of `client`. Until it ends, no other program can do the same. */
export async function runSteps(client: Client, shown: string, steps: readonly MigrationStep[]): Promise<void> {
  await client.query(`SELECT pg_advisory_xact_lock(${lock})`);
  await client.query(
    "CREATE TABLE IF NOT EXISTS schema_version (one BOOLEAN PRIMARY KEY DEFAULT true CHECK (one), " +
      "taken BIGINT NOT NULL, oldest BIGINT NOT NULL)",
  );
  const state = await schemaOf(client);
  const todo = stepsFor(steps, state);
  if (todo === "too-new") throw tooNew(shown, steps, state);
  for (const step of todo) await client.query(step);
  const after = todo.length === 0 ? state : stateAfter(steps, state);
  await client.query(
    "INSERT INTO schema_version (taken, oldest) VALUES ($1, $2) " +
      "ON CONFLICT (one) DO UPDATE SET taken = excluded.taken, oldest = excluded.oldest",
    [after.taken, after.oldest],
  );
  await client.query(`NOTIFY ${schemaChannel}`);
}

/** `taken` is 0 if the database contains no store. */
export async function schemaOf(client: Client): Promise<SchemaState> {
  const { rows: tables } = await client.query("SELECT to_regclass('schema_version') AS at");
  if (tables[0].at === null) return { taken: 0, oldest: 0 };
  const { rows } = await client.query<SchemaState>(schemaStatement);
  return rows[0] ?? { taken: 0, oldest: 0 };
}

export type WatchedSchema = {
  /** Once the schema is known to be too new, `transact` refuses to write and `queryBriefly` fails. */
  readonly postgres: Postgres;
  /** Call this when the schema may have changed. */
  readonly checkSteps: () => void;
  /** Resolves when the schema has become too new for this program. */
  readonly outgrown: Promise<DatabaseTrouble>;
};

export type SchemaWatchOptions = {
  readonly steps: readonly MigrationStep[];
  /** The address of the database, without secrets. */
  readonly shown: string;
  readonly log: Logger;
};

/** A newer program may migrate the database while this one uses it, to a schema that this one cannot use. */
export function watchSchema(postgres: Postgres, { steps, shown, log }: SchemaWatchOptions): WatchedSchema {
  const outgrown = Promise.withResolvers<DatabaseTrouble>();
  let trouble: DatabaseTrouble | undefined;

  const readState = async (): Promise<void> => {
    const [state] = (await postgres.read({ text: schemaStatement })).rows as SchemaState[];
    if (state === undefined || trouble !== undefined || stepsFor(steps, state) !== "too-new") return;
    trouble = tooNew(shown, steps, state);
    log.error(
      { schema: state.taken, known: steps.length },
      "a newer moor has upgraded the database; this node no longer writes to it",
    );
    outgrown.resolve(trouble);
  };
  const refuse = (): never => {
    throw new StoreBusy("this node is too old for its database", { cause: trouble, retryAfter: 10, isLogged: true });
  };
  return {
    postgres: {
      ...postgres,
      transact: async (work, since) => (trouble === undefined ? await postgres.transact(work, since) : refuse()),
      queryBriefly: async (statement) => {
        if (trouble !== undefined) throw trouble;
        return await postgres.queryBriefly(statement);
      },
    },
    // A failed check is repeated soon; outages of the database are reported elsewhere.
    checkSteps: () => void readState().catch(() => undefined),
    outgrown: outgrown.promise,
  };
}

/**
 * A transaction-mode pooler hands a session, with its locks and LISTENs, to the next client: two nodes would lead at
 * the same time, and neither would be notified of the other's writes. Such a pooler shows when a connection loses a
 * setting of its session.
 */
async function expectOwnSession(client: Client, connect: () => Promise<Client>): Promise<void> {
  const other = await connect();
  try {
    const mine = await mark(client);
    // A pooler that rotates its sessions shows in the next query; one that reuses the last session, after a query of
    // `other`.
    const isKept = (await markOn(client)) === mine;
    const others = await mark(other);
    if (isKept && (await markOn(client)) === mine && (await markOn(other)) === others) return;
  } finally {
    await endClient(other);
  }
  throw new Error(
    `connected through a transaction-mode pooler; nodes would miss each other's notifications; ${poolerTodo}`,
  );
}

async function mark(client: Client): Promise<string> {
  const text = randomUUID();
  await client.query("SELECT set_config('moor.session', $1, false)", [text]);
  return text;
}

async function markOn(client: Client): Promise<string | null> {
  const { rows } = await client.query<{ mark: string | null }>("SELECT current_setting('moor.session', true) AS mark");
  return rows[0]?.mark ?? null;
}
