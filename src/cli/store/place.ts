import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { recordsDatabase, type StorePlace } from "../../records/open-store.ts";
import type { CommandIo } from "../io/command-io.ts";
import type { DatabaseOptions } from "../io/database-options.ts";
import { readStorePlace } from "./read-store-place.ts";

/** What somebody has typed for a database: a PostgreSQL address, a file, or the data folder that it is in. */
export function readPlace(text: string, options: Omit<DatabaseOptions, "data">, io: CommandIo): StorePlace {
  // Also one that is mistyped: shown as a path, its password would be seen.
  if (/^(?:postgres(?:ql)?:|\w+:\/\/|\w+\/\/[^/]*@)/i.test(text))
    return readStorePlace({ ...options, data: ".", database: text }, io);
  const path = resolve(io.cwd, text);
  return { kind: "sqlite", path: existsSync(path) && statSync(path).isDirectory() ? recordsDatabase(path) : path };
}
