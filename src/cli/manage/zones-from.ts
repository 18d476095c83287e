import { parseZoneName } from "../../core/names/name.ts";
import { nameToUnicode, parseTyped } from "../../core/names/unicode.ts";
import { parseZoneFile } from "../../core/zone-file/parse.ts";
import type { Provider } from "../../providers/provider.ts";
import { type CommandIo, refuse } from "../io/command-io.ts";
import { printFaults } from "../io/print-faults.ts";
import { printTable } from "../io/print-table.ts";
import {
  type Difference,
  differenceOf,
  type FromOptions,
  openFrom,
  type ProviderZone,
  readZoneAt,
  Unusable,
} from "./provider-zones.ts";
import { call, type RecordsApi, Refused } from "./records-api.ts";
import { withApi } from "./with-api.ts";
import { importContent, isOwnSet, type ZoneImport } from "./zone.ts";

export type ZonesFrom = ZoneImport & FromOptions & { readonly yes?: boolean };

/** What happened, or would happen, to one zone. */
type Moved = {
  readonly zone: string;
  readonly state: "new" | "different" | "equal" | "failed";
  readonly sets: number;
  readonly difference: Difference | undefined;
  /** What cannot come. */
  readonly left: readonly string[];
  readonly because: string | undefined;
};

/**
 * `moor zone import --from`: all zones of an account, or some of them. Without `--yes` it only shows what would change.
 */
export async function zonesFrom(typed: readonly string[], options: ZonesFrom, io: CommandIo): Promise<number> {
  const names = typed.map((text) => parseTyped(parseZoneName, text, "ZONE"));
  const faults = names.flatMap((name) => (name.ok ? [] : name.faults));
  if (faults.length > 0) {
    printFaults(faults, io);
    return 2;
  }
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
  const moved: Moved[] = [];
  for (const zone of chosen) {
    io.signal.throwIfAborted();
    const read = await readZoneAt(provider, zone, {
      withNameservers: options.fileNameservers === true,
      signal: io.signal,
    });
    moved.push(typeof read === "string" ? failed(zone.name, read) : await moveOne(api, read, options, io));
  }
  report(moved, options, io);
  return moved.some(({ state }) => state === "failed") ? 1 : 0;
}

async function moveOne(api: RecordsApi, there: ProviderZone, options: ZonesFrom, io: CommandIo): Promise<Moved> {
  const { name: zone, left } = there;
  const keepsOwn = options.fileNameservers !== true;
  try {
    const before = await call(api, "GET", `/zones/${zone}/zonefile`, { expected: [404] });
    const isNew = before.status === 404;
    const read = isNew ? undefined : parseZoneFile(String(before.body.zonefile), zone);
    if (read?.ok === false) throw new Error("the service sent a zone file that cannot be read");
    const here = { ttl: read?.value.ttl, sets: (read?.value.sets ?? []).filter((set) => !keepsOwn || !isOwnSet(set)) };
    const difference = differenceOf(here, there.ttl === undefined ? { ...there, ttl: here.ttl } : there);
    const isEqual = !isNew && Object.values(difference).every((count) => count === 0);
    if (options.yes === true && !isEqual)
      await importContent(api, zone, there, { keepsOwn, before: isNew ? undefined : String(before.body.zonefile) }, io);
    return {
      zone,
      state: isNew ? "new" : isEqual ? "equal" : "different",
      sets: there.sets.length,
      difference,
      left,
      because: undefined,
    };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { ...failed(zone, error.message), sets: there.sets.length, left };
  }
}

const failed = (zone: string, because: string): Moved => ({
  zone,
  state: "failed",
  sets: 0,
  difference: undefined,
  left: [],
  because,
});

function report(moved: readonly Moved[], { json, yes }: ZonesFrom, io: CommandIo): void {
  const isWritten = yes === true;
  if (json) {
    io.out(`${JSON.stringify({ written: isWritten, zones: moved }, undefined, 2)}\n`);
    return;
  }
  const rows = moved.map(({ zone, state, sets, difference, because }) => [
    nameToUnicode(zone),
    state === "failed" ? `not done: ${because}` : state === "equal" ? "is equal" : isWritten ? "imported" : state,
    `${sets}`,
    difference === undefined ? "" : inWords(difference),
  ]);
  io.out(moved.length === 0 ? "There are no zones.\n" : printTable(["ZONE", "STATE", "SETS", "CHANGES"], rows));
  const left = moved.flatMap(({ zone, left: each }) => each.map((text) => `  ${nameToUnicode(zone)}: ${text}\n`));
  if (left.length > 0) io.out(`Cannot come:\n${left.join("")}`);
  if (!isWritten && moved.some(({ state }) => state === "new" || state === "different"))
    io.out("Nothing was written. To import, repeat the command with --yes.\n");
}

const inWords = ({ create, replace, remove }: Difference): string =>
  [
    [create, "to create"],
    [replace, "to replace"],
    [remove, "to remove"],
  ]
    .filter(([count]) => count !== 0)
    .map((part) => part.join(" "))
    .join(", ");
