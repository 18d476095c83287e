import { resolve } from "node:path";
import { findDataFolder, openDataFolder } from "../process/data-folder.ts";
import { createLog } from "../process/log.ts";
import { openStore } from "../records/open-store.ts";
import type { RecordStore } from "../records/store.ts";
import type { CommandIo } from "./command-io.ts";
import type { DatabaseOptions } from "./database-options.ts";
import { readStorePlace } from "./read-store-place.ts";

export type InData = DatabaseOptions;

/** Administration works on the database itself, also while the service runs. */
export async function withStore<T>(
  options: DatabaseOptions,
  io: CommandIo,
  work: (store: RecordStore) => Promise<T>,
): Promise<T> {
  const place = readStorePlace(options, io);
  if (place.kind === "sqlite") await findDataFolder(resolve(io.cwd, options.data));
  // What is wrong is said by whoever waits for it.
  const { store, close } = await openStore(place, createLog({ format: "text", level: "silent", write: io.err }));
  try {
    return await work(store);
  } finally {
    await close();
  }
}

/** The same for what a data folder may begin with: it is made when there is none. */
export async function withNewStore<T>(
  options: DatabaseOptions,
  io: CommandIo,
  work: (store: RecordStore) => Promise<T>,
): Promise<T> {
  if (options.database === undefined) await openDataFolder(resolve(io.cwd, options.data));
  return await withStore(options, io, work);
}
