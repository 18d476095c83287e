import { resolve } from "node:path";
import { isObject } from "../../core/is-object.ts";
import { knownNameservers } from "../../core/names/known-nameservers.ts";
import { nameToUnicode } from "../../core/names/unicode.ts";
import { replaceFile } from "../../process/data-folder.ts";
import { type CommandIo, refuse } from "../io/command-io.ts";
import { printList } from "../io/print-table.ts";
import {
  call,
  type JsonFields,
  listAll,
  type ManageOptions,
  type RecordsApi,
  sameService,
  write,
  zonePath,
} from "./records-api.ts";
import { hasRecordsApi } from "./remote-api.ts";
import { withApi, withZone } from "./with-api.ts";

export type ZoneAdd = ManageOptions & { readonly ttl?: number };

/** `moor zone add`: nothing changes if the zone exists. */
export function zoneAdd(typed: string, options: ZoneAdd, io: CommandIo): Promise<number> {
  return withZone(typed, options, io, async (api, zone) => {
    const body = { name: zone, mode: "primary", ttl: options.ttl };
    const created = await createZone(api, body, io);
    const shown = await readZone(api, zone);
    printOutcome({ zone: nameToUnicode(zone), changed: created }, created ? "Created" : "Exists already:", options, io);
    if (created && !options.json) io.out(delegation(shown));
    return 0;
  });
}

/** `moor zone list`. */
export async function zoneList(options: ManageOptions, io: CommandIo): Promise<number> {
  if (options.data === undefined && options.database === undefined && !hasRecordsApi(options, io))
    return await (await import("../update/ask-target.ts")).zones(options, io);
  return await withApi(options, io, async (api) => {
    const zones = await listAll(api, "/zones", "zones", 50);
    const none = `There are no zones yet; create one with: ${io.program} zone add ${sameService(options)} example.org`;
    const heads = ["ZONE", "KIND", "RECORDS", "TTL"];
    return printList({ json: options.json, forPrograms: zones, heads, rows: zones.map(row), none }, io);
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
    const { body } = await call(api, "GET", `${zonePath(zone)}/zonefile?labels=true`);
    const text = String(body.zonefile);
    if (options.to === undefined) io.out(text);
    else {
      await replaceFile(resolve(io.cwd, options.to), text, 0o644);
      io.err(`Written to ${options.to}\n`);
    }
    return 0;
  });
}

export type ZoneDelete = ManageOptions & { readonly yes?: boolean };

/** `moor zone delete`: nothing happens if there is no such zone. */
export function zoneDelete(typed: string, options: ZoneDelete, io: CommandIo): Promise<number> {
  return withZone(typed, options, io, async (api, zone) => {
    const answer = await call(api, "GET", zonePath(zone), { expected: [404] });
    const shown = nameToUnicode(zone);
    if (answer.status !== 404 && options.yes !== true) {
      const { record_count: records } = isObject(answer.body.zone) ? answer.body.zone : {};
      const what = typeof records === "number" ? `${records} records` : "all its records";
      return refuse(2, `This deletes ${shown} with ${what}; to confirm, add --yes`, io);
    }
    if (answer.status !== 404) await write(api, "DELETE", zonePath(zone), { expected: [404], signal: io.signal });
    const changed = answer.status !== 404;
    printOutcome({ zone: shown, changed }, changed ? "Deleted" : "There is no zone", options, io);
    return 0;
  });
}

/** False if it exists already: another request may have created it since. */
export async function createZone(api: RecordsApi, body: JsonFields, io: CommandIo): Promise<boolean> {
  const { status } = await write(api, "POST", "/zones", { body, expected: [409], signal: io.signal });
  if (status !== 409) return true;
  // Throws if the name belongs to somebody else.
  await readZone(api, String(body.name));
  return false;
}

async function readZone(api: RecordsApi, zone: string): Promise<JsonFields> {
  const { body } = await call(api, "GET", zonePath(zone));
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
