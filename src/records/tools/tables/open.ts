import type { StorePlace } from "../../open-store.ts";
import { readSqliteTables, trimSqliteTables } from "./sqlite.ts";
import type { TablesUse, WritableTables } from "./table.ts";

/** One state of a store that may be in use. A server that hangs is left as soon as `signal` says so. */
export async function readTables(place: StorePlace, use: TablesUse, signal: AbortSignal): Promise<WritableTables> {
  if (place.kind === "sqlite") return readSqliteTables(place.path);
  return await (await import("./postgres.ts")).readPostgresTables(place.address, use, signal);
}

/** To delete a few rows at a time from a store that is in use. */
export async function trimTables(place: StorePlace): Promise<WritableTables> {
  if (place.kind === "sqlite") return trimSqliteTables(place.path);
  return await (await import("./postgres.ts")).trimPostgresTables(place.address);
}
