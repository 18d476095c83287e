import { resolve } from "node:path";
import { findDataFolder } from "../process/data-folder.ts";
import { createLog } from "../process/log.ts";
import { openStore } from "../records/open-store.ts";
import type { RecordStore } from "../records/store.ts";
import type { CommandIo } from "./command-io.ts";
import type { DatabaseOptions } from "./database-options.ts";
import { readStorePlace } from "./read-store-place.ts";

export type InData = DatabaseOptions;

/** Administration works on the database itself, also while the service runs. What it begins with may make the folder. */
export async function withStore<T>(
  options: DatabaseOptions,
  io: CommandIo,
  work: (store: RecordStore) => Promise<T>,
  folder = findDataFolder,
): Promise<T> {
  const place = readStorePlace(options, io);
  if (place.kind === "sqlite") await folder(resolve(io.cwd, options.data));
  // What is wrong is said by whoever waits for it.
  const { store, close } = await openStore(place, createLog({ format: "text", level: "silent", write: io.err }));
  try {
    return await work(store);
  } finally {
    await close();
  }
}
