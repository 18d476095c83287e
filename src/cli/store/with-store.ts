import { resolve } from "node:path";
import { findDatabase, findOrCreate, openDataFolder } from "../../process/data-folder.ts";
import { createLog } from "../../process/log.ts";
import { openStore, type StorePlace } from "../../records/open-store.ts";
import type { Signer } from "../../records/signing/signer.ts";
import type { RecordStore } from "../../records/store/port.ts";
import type { CommandIo } from "../io/command-io.ts";
import type { DatabaseOptions } from "../io/database-options.ts";
import type { NewOption } from "../io/options.ts";
import { readStorePlace } from "./read-store-place.ts";

/** Administration uses the database directly, also while the service runs. */
export async function withStore<T>(
  options: DatabaseOptions,
  io: CommandIo,
  work: (store: RecordStore, signer: Signer) => Promise<T>,
): Promise<T> {
  return await workOn(await findStore(options, io), io, work);
}

/** An existing store. */
export async function findStore(options: DatabaseOptions, io: CommandIo, todo?: string): Promise<StorePlace> {
  const place = await readStorePlace(options, io);
  if (place.kind !== "sqlite") return place;
  await findDatabase(place.path, todo);
  return place;
}

/**
 * Creates a missing store only with `--new`: a running service would know nothing of what is added to a mistyped
 * folder.
 */
export async function withServiceStore<T>(
  options: DatabaseOptions & NewOption,
  io: CommandIo,
  work: (store: RecordStore, signer: Signer) => Promise<T>,
): Promise<T> {
  if (!options.new) return await workOn(await findStore(options, io, findOrCreate), io, work);
  const place = await readStorePlace(options, io);
  if (place.kind === "sqlite") await openDataFolder(resolve(io.cwd, options.data));
  return await workOn(place, io, work);
}

async function workOn<T>(
  place: StorePlace,
  io: CommandIo,
  work: (store: RecordStore, signer: Signer) => Promise<T>,
): Promise<T> {
  // Silent: errors reach the caller.
  const { store, signer, close } = await openStore(
    place,
    createLog({ format: "text", level: "silent", write: io.err }),
  );
  try {
    return await work(store, signer);
  } finally {
    await close();
  }
}
