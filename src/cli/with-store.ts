import { resolve } from "node:path";
import { openDataFolder } from "../process/data-folder.ts";
import { recordsDatabase } from "../records/start.ts";
import type { RecordStore } from "../records/store.ts";
import { openSqliteStore } from "../records/store-sqlite.ts";
import type { CommandIo } from "./command-io.ts";

export type InData = { readonly data: string };

/** Administration works on the database itself, also while the service runs. */
export async function withStore<T>(
  { data }: InData,
  io: CommandIo,
  work: (store: RecordStore) => Promise<T>,
): Promise<T> {
  const folder = resolve(io.cwd, data);
  await openDataFolder(folder);
  const store = openSqliteStore(recordsDatabase(folder));
  try {
    return await work(store);
  } finally {
    store.close();
  }
}
