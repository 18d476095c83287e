import { noLog } from "../../../src/process/log.ts";
import { type PostgresAddress, readPostgresUrl } from "../../../src/process/postgres/url.ts";
import {
  openPostgresStore,
  type PostgresStore,
  type PostgresStoreOptions,
} from "../../../src/records/store/postgres/store.ts";
import { patience } from "../patience.ts";
import { type PostgresServer, startPostgres } from "../postgres.ts";

export type PostgresRig = {
  readonly server: PostgresServer;
  /** A new, empty database for each call. */
  readonly freshUrl: () => Promise<string>;
  /** Without a URL: on a database that was emptied first. */
  readonly open: (url?: string, options?: Partial<PostgresStoreOptions>) => Promise<PostgresStore>;
  readonly stop: () => Promise<void>;
};

/** A server for one test file, without durability. */
export async function startPostgresRig(flags: readonly string[] = ["fsync=off"]): Promise<PostgresRig> {
  const server = await startPostgres(flags);
  let made = 0;
  const freshUrl = async () => {
    made += 1;
    await server.createDatabase(`moor_${made}`);
    return server.url(`moor_${made}`);
  };
  let swept: string | undefined;
  const sweptUrl = async () => {
    if (swept === undefined) swept = await freshUrl();
    else await sweep(server, swept);
    return swept;
  };
  return {
    server,
    freshUrl,
    open: async (url, { limits, ...options } = {}) =>
      await openPostgresStore({
        ...{ address: addressOf(url ?? (await sweptUrl())), log: quiet, ...options },
        limits: { ...patient, ...limits },
      }),
    stop: server.stop,
  };
}

/** Ten times faster than creating a new database. */
async function sweep(server: PostgresServer, url: string): Promise<void> {
  const client = await server.connect(new URL(url).pathname.slice(1));
  await client.query(
    `DO $$ BEGIN EXECUTE (SELECT 'TRUNCATE ' || string_agg(format('%I', tablename), ', ') || ' RESTART IDENTITY CASCADE'
      FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('schema_version', 'log_head')); END $$;
    UPDATE log_head SET position = 0`,
  );
  await client.end();
}

const quiet = noLog;

/** No timeouts on a slow machine, unless a test asks for them. */
export const patient = { connect: patience, statement: patience, lock: patience, patience };

export function addressOf(url: string): PostgresAddress {
  const address = readPostgresUrl(url, { env: {} });
  if (!address.ok) throw new Error(address.faults.map((fault) => fault.message).join());
  return address.value;
}
