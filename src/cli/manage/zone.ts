import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { isObject } from "../../core/is-object.ts";
import { knownNameservers } from "../../core/names/known-nameservers.ts";
import { apex, parseZoneName } from "../../core/names/name.ts";
import { nameToUnicode, parseTyped } from "../../core/names/unicode.ts";
import { finish } from "../../core/steps.ts";
import { parseZoneFile, type ZoneFile } from "../../core/zone-file/parse.ts";
import { type PrintableSet, printingZoneFile } from "../../core/zone-file/print.ts";
import { replaceFile } from "../../process/data-folder.ts";
import { type CommandIo, refuse } from "../io/command-io.ts";
import { printFaults } from "../io/print-faults.ts";
import { printTable } from "../io/print-table.ts";
import { type PublishOptions, publishZone } from "./publish.ts";
import {
  call,
  type JsonFields,
  listAll,
  type ManageOptions,
  type RecordsApi,
  sameService,
  write,
} from "./records-api.ts";
import { withApi } from "./with-api.ts";

export type ZoneAdd = ManageOptions & PublishOptions & { readonly ttl?: number };

/** `moor zone add`: nothing changes if the zone exists. */
export function zoneAdd(typed: string, options: ZoneAdd, io: CommandIo): Promise<number> {
  return withZone(typed, options, io, async (api, zone) => {
    const body = { name: zone, mode: "primary", ttl: options.ttl };
    const created = await createZone(api, body, io);
    if (options.publish !== undefined) return await publishZone(api, zone, options.publish, options, io);
    const shown = await readZone(api, zone);
    printOutcome({ zone: nameToUnicode(zone), changed: created }, created ? "Created" : "Exists already:", options, io);
    if (created && !options.json) io.out(delegation(shown));
    return 0;
  });
}

/** `moor zone list`. */
export function zoneList(options: ManageOptions, io: CommandIo): Promise<number> {
  return withApi(options, io, async (api) => {
    const zones = await listAll(api, "/zones", "zones", 50);
    if (options.json) io.out(`${JSON.stringify(zones, undefined, 2)}\n`);
    else if (zones.length === 0)
      io.out(`There are no zones yet; create one with: ${io.program} zone add ${sameService(options)} example.org\n`);
    else io.out(printTable(["ZONE", "KIND", "RECORDS", "TTL"], zones.map(row)));
    return 0;
  });
}

const row = ({ name, mode, record_count: records, ttl }: JsonFields): readonly string[] => [
  nameToUnicode(String(name)),
  ...[mode, records, ttl].map((value) =>
    ["string", "number"].includes(typeof value) ? `${value as string | number}` : "",
  ),
];

export type ZoneExport = ManageOptions & { readonly to?: string };

/** `moor zone export`: a zone file on standard output, or in a file. */
export function zoneExport(typed: string, options: ZoneExport, io: CommandIo): Promise<number> {
  return withZone(typed, options, io, async (api, zone) => {
    const { body } = await call(api, "GET", `/zones/${zone}/zonefile`);
    const text = String(body.zonefile);
    if (options.to === undefined) io.out(text);
    else {
      await replaceFile(resolve(io.cwd, options.to), text, 0o644);
      io.err(`Written to ${options.to}\n`);
    }
    return 0;
  });
}

export type ZoneImport = ManageOptions & { readonly fileNameservers?: boolean };

/**
 * `moor zone import`: afterwards the zone has what is in the file. Its nameservers and SOA stay, unless those of the
 * file are wanted.
 */
export function zoneImport(typed: string, file: string, options: ZoneImport, io: CommandIo): Promise<number> {
  return withZone(typed, options, io, async (api, zone) => {
    const fileText = await readFile(resolve(io.cwd, file), "utf8");
    const read = parseZoneFile(fileText, zone);
    if (!read.ok) {
      printFaults(
        read.faults.map((fault) => ({ ...fault, where: `${file}, ${fault.where}` })),
        io,
      );
      return 1;
    }
    const keepsOwn = options.fileNameservers !== true;
    const content = keepsOwn ? withoutOwn(read.value) : read.value;
    const before = await call(api, "GET", `/zones/${zone}/zonefile`, { expected: [404] });
    const had = before.status === 404 ? undefined : String(before.body.zonefile);
    await importContent(api, zone, content, { keepsOwn, before: had }, io);
    const after = await call(api, "GET", `/zones/${zone}/zonefile`);
    const changed = withoutSerial(after.body.zonefile) !== withoutSerial(before.body.zonefile);
    const words = before.status === 404 ? "Created from the file:" : changed ? "Imported:" : "Unchanged:";
    printOutcome({ zone: nameToUnicode(zone), changed }, words, options, io);
    return 0;
  });
}

type ZoneContent = { readonly ttl: number | undefined; readonly sets: readonly PrintableSet[] };

/** `before`: the zone as a file; undefined if it does not exist. */
export async function importContent(
  api: RecordsApi,
  zone: string,
  content: ZoneContent,
  { keepsOwn, before }: { readonly keepsOwn: boolean; readonly before: string | undefined },
  io: CommandIo,
): Promise<void> {
  if (before === undefined) {
    await createZone(api, { name: zone, mode: "primary", zonefile: printed(content, zone) }, io);
    return;
  }
  const zonefile = `${printed(content, zone)}${keepsOwn ? ownLines(before, zone) : ""}`;
  const body = { zonefile, ...(!keepsOwn && { other_nameservers: true }) };
  await write(api, "POST", `/zones/${zone}/actions/import_zonefile`, { body, signal: io.signal });
}

export const isOwnSet = ({ owner, type }: Pick<PrintableSet, "owner" | "type">): boolean =>
  owner === apex && (type === "SOA" || type === "NS");

const withoutOwn = (file: ZoneFile): ZoneFile => ({ ...file, sets: file.sets.filter((set) => !isOwnSet(set)) });

/** A file without `$TTL` must not get one: it would become the zone's default. */
function printed({ ttl, sets }: ZoneContent, name: string): string {
  const text = finish(printingZoneFile({ name, ttl: ttl ?? 0, sets }, "rrsets"));
  return ttl === undefined ? text.replace(/^\$TTL.*\n/m, "") : text;
}

/** The SOA and NS records that the zone has now, as lines of a file. */
function ownLines(text: string, zone: string): string {
  const read = parseZoneFile(text, zone);
  if (!read.ok) throw new Error("the service sent a zone file that cannot be read");
  return printed({ ttl: undefined, sets: read.value.sets.filter(isOwnSet) }, zone).replace(/^\$ORIGIN.*\n/m, "");
}

/** The serial and the time of the export differ each time. */
const withoutSerial = (text: unknown): string =>
  String(text)
    .replaceAll(/^;.*$/gm, "")
    .replaceAll(/(\sSOA\s+\S+\s+\S+\s+)\d+/g, "$1");

export type ZoneDelete = ManageOptions & { readonly yes?: boolean };

/** `moor zone delete`: nothing happens if there is no such zone. */
export function zoneDelete(typed: string, options: ZoneDelete, io: CommandIo): Promise<number> {
  return withZone(typed, options, io, async (api, zone) => {
    const answer = await call(api, "GET", `/zones/${zone}`, { expected: [404] });
    const shown = nameToUnicode(zone);
    if (answer.status !== 404 && options.yes !== true) {
      const { record_count: records } = isObject(answer.body.zone) ? answer.body.zone : {};
      const what = typeof records === "number" ? `${records} records` : "all its records";
      return refuse(2, `This deletes ${shown} with ${what}; to confirm, add --yes`, io);
    }
    if (answer.status !== 404) await write(api, "DELETE", `/zones/${zone}`, { expected: [404], signal: io.signal });
    const changed = answer.status !== 404;
    printOutcome({ zone: shown, changed }, changed ? "Deleted" : "There is no zone", options, io);
    return 0;
  });
}

async function withZone(
  typed: string,
  options: ManageOptions,
  io: CommandIo,
  work: (api: RecordsApi, zone: string) => Promise<number>,
): Promise<number> {
  const zone = parseTyped(parseZoneName, typed, "ZONE");
  if (zone.ok) return await withApi(options, io, (api) => work(api, zone.value));
  printFaults(zone.faults, io);
  return 2;
}

/** False if it exists already: another request may have created it since. */
async function createZone(api: RecordsApi, body: JsonFields, io: CommandIo): Promise<boolean> {
  const { status } = await write(api, "POST", "/zones", { body, expected: [409], signal: io.signal });
  if (status !== 409) return true;
  // Throws if the name belongs to somebody else.
  await readZone(api, String(body.name));
  return false;
}

async function readZone(api: RecordsApi, zone: string): Promise<JsonFields> {
  const { body } = await call(api, "GET", `/zones/${zone}`);
  return isObject(body.zone) ? body.zone : {};
}

function delegation({ authoritative_nameservers: servers }: JsonFields): string {
  const assigned = isObject(servers) && Array.isArray(servers.assigned) ? servers.assigned.map(String) : [];
  const nameservers = knownNameservers(assigned);
  if (nameservers.length > 0) return `At the registrar, enter these nameservers: ${nameservers.join(", ")}\n`;
  if (assigned.length === 0) return "";
  return "The service does not know the names of its nameservers yet: start it with --dns and --nameserver\n";
}

function printOutcome(
  outcome: { readonly zone: string; readonly changed: boolean },
  words: string,
  { json }: ManageOptions,
  io: CommandIo,
): void {
  io.out(json ? `${JSON.stringify(outcome)}\n` : `${words} ${outcome.zone}\n`);
}
