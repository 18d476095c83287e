import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { findDatabase, openDataFolder } from "../../process/data-folder.ts";
import { createLog } from "../../process/log.ts";
import { openStore, type StorePlace } from "../../records/open-store.ts";
import type { Signer } from "../../records/signing/signer.ts";
import type { RecordStore } from "../../records/store/port.ts";
import { expectWholeFile } from "../../records/store/unfinished-copy.ts";
import type { CommandIo } from "../io/command-io.ts";
import type { DatabaseOptions } from "../io/database-options.ts";
import { newStore } from "./new-store.ts";
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
export async function findStore(options: DatabaseOptions, io: CommandIo): Promise<StorePlace> {
  const place = readStorePlace(options, io);
  if (place.kind !== "sqlite") return place;
  expectWholeFile(place.path);
  await findDatabase(place.path);
  return place;
}

/** For commands that may be the first on a store: creates it if missing. */
export async function withNewStore<T>(
  options: DatabaseOptions,
  io: CommandIo,
  work: (store: RecordStore, signer: Signer) => Promise<T>,
): Promise<T> {
  const place = readStorePlace(options, io);
  if (place.kind === "sqlite") await openDataFolder(resolve(io.cwd, options.data));
  return await workOn(place, io, work);
}

/** As `withNewStore`, and says when it creates one: with a mistyped folder the service would know nothing of the change. */
export async function withServiceStore<T>(
  options: DatabaseOptions,
  io: CommandIo,
  work: (store: RecordStore, signer: Signer) => Promise<T>,
): Promise<T> {
  const place = readStorePlace(options, io);
  const isNew = place.kind === "sqlite" && !existsSync(place.path);
  const outcome = await withNewStore(options, io, work);
  if (isNew) io.err(newStore(options.data));
  return outcome;
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
