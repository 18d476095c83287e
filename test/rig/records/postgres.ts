import type pg from "pg";
import { type PostgresAddress, readPostgresUrl } from "../../../src/lib/postgres/url.ts";
import { noLog } from "../../../src/process/log.ts";
import {
  openPostgresStore,
  type PostgresStore,
  type PostgresStoreOptions,
} from "../../../src/records/store/postgres/store.ts";
import { patience } from "../patience.ts";
import { type PostgresServer, startPostgres } from "../postgres.ts";

export type PostgresRig = {
  readonly server: PostgresServer;
  /** A new database for each call: empty, or a copy of one that nobody is connected to. */
  readonly freshUrl: (copyOf?: string) => Promise<string>;
  /** A new database that has the tables already: making them takes three times as long as copying them. */
  readonly preparedUrl: () => Promise<string>;
  /** Without a URL: on a database that was emptied first. If its signatures follow writes, it makes them. */
  readonly open: (url?: string, options?: Partial<PostgresStoreOptions>) => Promise<PostgresStore>;
  /**
   * The same store each time, emptied: opening one costs more than most tests. The numbers of its rows and log go on,
   * and it may remember tokens. Its `close` does nothing.
   */
  readonly emptied: () => Promise<PostgresStore>;
  readonly stop: () => Promise<void>;
};

let shared: Promise<PostgresServer> | undefined;
let databases = 0;
/** The database with the tables, on each server that was asked for one. */
const templates = new WeakMap<PostgresServer, Promise<string>>();

/**
 * All test files of a worker share one server, which ends with the worker, and each has its own databases; a file that
 * needs flags gets its own server. Nobody may stop or restart the shared one: for that, use `startPostgres`.
 */
export async function startPostgresRig(flags?: readonly string[]): Promise<PostgresRig> {
  const sharedServer = () => {
    shared ??= startPostgres();
    return shared;
  };
  const server = await (flags === undefined ? sharedServer() : startPostgres(flags));
  const freshUrl = async (copyOf?: string) => {
    databases += 1;
    const name = `moor_${databases}`;
    await server.createDatabase(name, copyOf === undefined ? undefined : databaseIn(copyOf));
    return server.url(name);
  };
  const makeTemplate = async () => {
    const url = await freshUrl();
    await (await openPostgresStore({ address: addressOf(url), log: quiet, limits: patient })).close();
    return url;
  };
  const preparedUrl = async () => {
    const template = templates.get(server) ?? makeTemplate();
    templates.set(server, template);
    return await freshUrl(await template);
  };
  let swept: { readonly url: string; readonly client: pg.Client } | undefined;
  const sweptUrl = async () => {
    if (swept === undefined) {
      const url = await preparedUrl();
      swept = { url, client: await server.connect(databaseIn(url)) };
    } else await swept.client.query(`${deleteRows}; ${restartNumbers}`);
    return swept.url;
  };
  const open: PostgresRig["open"] = async (url, { limits, ...options } = {}) => {
    const store = await openPostgresStore({
      ...{ address: addressOf(url ?? (await sweptUrl())), log: quiet, ...options },
      limits: { ...patient, ...limits },
    });
    const { end: stopSigning } = store.signChanges();
    const close = async () => {
      await stopSigning();
      await store.close();
    };
    return { ...store, close };
  };
  let kept: { readonly store: PostgresStore; readonly client: pg.Client } | undefined;
  const emptied = async () => {
    if (kept === undefined) {
      const url = await preparedUrl();
      kept = { store: await open(url), client: await server.connect(databaseIn(url)) };
    } else await kept.client.query(deleteRows);
    return { ...kept.store, close: async () => undefined };
  };
  return {
    ...{ server, freshUrl, preparedUrl, open, emptied },
    stop: async () => {
      await kept?.store.close();
      await kept?.client.end();
      await swept?.client.end();
      if (flags !== undefined) await server.stop();
    },
  };
}

/**
 * Faster than creating a new database, and than TRUNCATE, which makes new files for all tables and indexes. Without
 * foreign keys and triggers, the tables can be emptied in any order.
 */
const deleteRows = `DO $$ DECLARE used regclass; BEGIN
    SET LOCAL session_replication_role = replica;
    FOR used IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
      AND relname NOT IN ('schema_version', 'log_head') AND pg_relation_size(oid) > 0
      LOOP EXECUTE 'DELETE FROM ' || used; END LOOP;
  END $$`;

const restartNumbers = `SELECT setval(seqrelid, seqstart, false) FROM pg_sequence; UPDATE log_head SET position = 0`;

const databaseIn = (url: string): string => new URL(url).pathname.slice(1);

const quiet = noLog;

/** No timeouts on a slow machine, unless a test asks for them. */
export const patient = { connect: patience, statement: patience, lock: patience, commit: patience, patience };

export function addressOf(url: string): PostgresAddress {
  const address = readPostgresUrl(url, { env: {} });
  if (!address.ok) throw new Error(address.faults.map((fault) => fault.message).join());
  return address.value;
}
