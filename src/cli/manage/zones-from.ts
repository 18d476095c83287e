import { parseZoneName } from "../../core/names/name.ts";
import { parseTyped } from "../../core/names/unicode.ts";
import type { Provider } from "../../providers/provider.ts";
import { type CommandIo, refuse } from "../io/command-io.ts";
import { refuseFaults } from "../io/print-faults.ts";
import { failedImport, type ImportOptions, importZone, reportImports, type ZoneImport } from "./import-zone.ts";
import { type FromOptions, openFrom, readZoneAt, Unusable } from "./provider-zones.ts";
import type { RecordsApi } from "./records-api.ts";
import { withApi } from "./with-api.ts";

export type ZonesFrom = ImportOptions & FromOptions;

/**
 * `moor zone import --from`: all zones of an account, or some of them. Without `--yes` it only shows what would change.
 */
export async function zonesFrom(typed: readonly string[], options: ZonesFrom, io: CommandIo): Promise<number> {
  const names = typed.map((text) => parseTyped(parseZoneName, text, "ZONE"));
  const faults = names.flatMap((name) => (name.ok ? [] : name.faults));
  if (faults.length > 0) return refuseFaults(faults, io);
  const wanted = names.flatMap((name) => (name.ok ? [name.value] : []));
  if (options.from === "axfr" && wanted.length === 0)
    return refuse(2, "A nameserver does not list its zones: name those to import, as in … --from axfr example.org", io);
  let provider: Provider;
  try {
    provider = await openFrom(options, io.cwd);
  } catch (error) {
    if (!(error instanceof Unusable)) throw error;
    return refuse(2, `Not done: ${error.message}`, io);
  }
  try {
    return await withApi(options, io, (api) => moveAll(api, provider, wanted, options, io));
  } finally {
    provider.close();
  }
}

async function moveAll(
  api: RecordsApi,
  provider: Provider,
  wanted: readonly string[],
  options: ZonesFrom,
  io: CommandIo,
): Promise<number> {
  const listed = options.from === "axfr" ? undefined : await provider.zones(io.signal);
  if (listed !== undefined && listed.kind !== "found") return refuse(1, `Not done: ${listed.because}`, io);
  const there = listed?.value ?? wanted.map((name) => ({ name }));
  const missing = wanted.filter((name) => !there.some((zone) => zone.name === name));
  if (missing.length > 0) return refuse(1, `Not done: ${provider.service} has no zone ${missing.join(", ")}`, io);
  const chosen = there.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
  const imported: ZoneImport[] = [];
  for (const zone of chosen) {
    io.signal.throwIfAborted();
    const read = await readZoneAt(provider, zone, io.signal);
    imported.push(typeof read === "string" ? failedImport(zone.name, read) : await importZone(api, read, options, io));
  }
  return reportImports(imported, options, io);
}
