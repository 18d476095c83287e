import { parseZoneName } from "../../core/names/name.ts";
import { parseTyped } from "../../core/names/unicode.ts";
import type { CommandIo } from "../io/command-io.ts";
import { refuseFaults } from "../io/print-faults.ts";
import { type ManageOptions, type RecordsApi, Refused } from "./records-api.ts";

/** Runs `work` with the API that the options choose. */
export async function withApi(
  options: ManageOptions,
  io: CommandIo,
  work: (api: RecordsApi) => Promise<number>,
): Promise<number> {
  const isLocal = options.data !== undefined || options.database !== undefined;
  const api = isLocal
    ? await (await import("./local-api.ts")).openLocalApi(options, io)
    : await (await import("./remote-api.ts")).openRemoteApi(options, io);
  if (api === undefined) return 2;
  try {
    return await work(api);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    io.err(`Not done: ${error.message}\n`);
    return 1;
  } finally {
    await api.close();
  }
}

/** Works on a zone that somebody typed, over that API. */
export async function withZone(
  typed: string,
  options: ManageOptions,
  io: CommandIo,
  work: (api: RecordsApi, zone: string) => Promise<number>,
): Promise<number> {
  const zone = parseTyped(parseZoneName, typed, "ZONE");
  if (zone.ok) return await withApi(options, io, (api) => work(api, zone.value));
  return refuseFaults(zone.faults, io);
}
