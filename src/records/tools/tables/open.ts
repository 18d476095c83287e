import type { StorePlace } from "../../open-store.ts";
import { readSqliteTables, trimSqliteTables, writeSqliteTables } from "./sqlite.ts";
import type { CopyTarget, TablesUse, WritableTables } from "./table.ts";

/** Reads one consistent state of a store that may be in use. `signal` also ends waiting for a server that hangs. */
export async function readTables(place: StorePlace, use: TablesUse, signal: AbortSignal): Promise<WritableTables> {
  if (place.kind === "sqlite") return readSqliteTables(place.path);
  return await (await import("./postgres.ts")).readPostgresTables(place.address, use, signal);
}

/** For deleting a few rows at a time from a store that is in use. */
export async function trimTables(place: StorePlace): Promise<WritableTables> {
  if (place.kind === "sqlite") return trimSqliteTables(place.path);
  return await (await import("./postgres.ts")).trimPostgresTables(place.address);
}

/** A new file, or an empty database. */
export async function openCopyTarget(place: StorePlace, signal: AbortSignal): Promise<CopyTarget> {
  if (place.kind === "sqlite") return { tables: writeSqliteTables(place.path), finish: async () => undefined };
  return await (await import("./postgres.ts")).writePostgresTables(place.address, signal);
}
