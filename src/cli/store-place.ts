import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { recordsDatabase } from "../records/start.ts";
import type { CommandIo } from "./command-io.ts";

export type InStore = { readonly data: string };

/** Where a service keeps its records. */
export type StorePlace = { readonly kind: "sqlite"; readonly path: string };

/** That of the service of these options. */
export const placeOfStore = ({ data }: InStore, io: CommandIo): StorePlace => ({
  kind: "sqlite",
  path: recordsDatabase(resolve(io.cwd, data)),
});

/** What somebody has typed for a database: a file, or the data folder that it is in. */
export function readPlace(text: string, io: CommandIo): StorePlace {
  const path = resolve(io.cwd, text);
  return { kind: "sqlite", path: existsSync(path) && statSync(path).isDirectory() ? recordsDatabase(path) : path };
}
