import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { CommanderError } from "commander";
import { recordsDatabase, type StorePlace, signingKeyFile } from "../../records/open-store.ts";
import type { CommandIo } from "../io/command-io.ts";
import type { DatabaseOptions } from "../io/database-options.ts";
import { storeFlags } from "../io/try-lines.ts";

/** The URL is never shown: it may contain a password. Reading URLs is loaded only if it is used. */
export async function readStorePlace(options: DatabaseOptions, io: CommandIo): Promise<StorePlace> {
  const { data, database, databasePasswordFile, databaseConnections: connections } = options;
  if (database === undefined) return { kind: "sqlite", path: recordsDatabase(resolve(io.cwd, data)) };
  const { hasPassword, readPostgresUrl } = await import("../../lib/postgres/url.ts");
  if (hasPassword(database)) {
    io.err(`--database ${passwordShown}\n`);
    throw new CommanderError(2, "moor.database", "bad --database");
  }
  const passwordFile = databasePasswordFile && resolve(io.cwd, databasePasswordFile);
  const address = readPostgresUrl(database, { passwordFile, env: io.env });
  if (address.ok)
    return { kind: "postgres", address: address.value, connections, keyFile: signingKeyFile(resolve(io.cwd, data)) };
  for (const { where, message } of address.faults) io.err(`${where} ${message}\n`);
  throw new CommanderError(2, "moor.database", "bad --database");
}

const passwordShown =
  "contains a password, which every user of this machine can see in the list of processes; give it in " +
  "--database-password-file, in PGPASSWORD or in a passfile (~/.pgpass) instead, and change it if others may have seen it";

/** A database on the command line: a PostgreSQL URL, a file, or its data folder. */
export async function readPlace(
  text: string,
  options: Omit<DatabaseOptions, "data">,
  io: CommandIo,
): Promise<StorePlace> {
  // Also a mistyped URL: shown as a path, it would disclose its password.
  if (/^(?:postgres(?:ql)?:|\w+:\/\/|\w+\/\/[^/]*@)/i.test(text))
    return await readStorePlace({ ...options, data: ".", database: text }, io);
  const path = resolve(io.cwd, text);
  return { kind: "sqlite", path: existsSync(path) && statSync(path).isDirectory() ? recordsDatabase(path) : path };
}

/** The options of a suggested command, for the same store. */
export const sameStore = async (options: DatabaseOptions, io: CommandIo): Promise<string> =>
  storeFlags(options, await readStorePlace(options, io));
