import { isObject } from "../../core/is-object.ts";
import { apex, enclosing, ownerOf, parseName, parseZoneName } from "../../core/names/name.ts";
import { nameToUnicode, parseTyped } from "../../core/names/unicode.ts";
import { tokenize } from "../../core/rdata/fields/tokens.ts";
import { parseRdata, readableValue } from "../../core/rdata/rdata.ts";
import { definitionOf, parseType, type RecordType, typeName } from "../../core/rdata/table.ts";
import { isTarget, targetWithoutDot } from "../../core/rdata/target-fields.ts";
import { type CommandIo, refuse } from "../io/command-io.ts";
import { refuseFaults } from "../io/print-faults.ts";
import { printList } from "../io/print-table.ts";
import { call, listAll, type ManageOptions, type RecordsApi, sameService, write, zonePath } from "./records-api.ts";
import { withApi } from "./with-api.ts";

export type RecordSettings = ManageOptions & { readonly ttl?: number };

/** What the set has, in the order of the service. */
type Content = { readonly ttl: number | null; readonly values: readonly string[] };

/** From what a set has to what it must have; no values: there is no such set. */
type Change = (before: readonly string[], same: (one: string, other: string) => boolean) => readonly string[];

/** `moor record set`: the name has exactly these values of that type. */
export const recordSet = (
  name: string,
  type: string,
  values: readonly string[],
  options: RecordSettings,
  io: CommandIo,
) => changeSet({ name, type, values }, () => values.map((value) => quoted(type, value)), options, io);

/** `moor record add`: the values that are missing are added. */
export const recordAdd = (
  name: string,
  type: string,
  values: readonly string[],
  options: RecordSettings,
  io: CommandIo,
) => {
  const wanted = values.map((value) => quoted(type, value));
  const change: Change = (before, same) => [
    ...before,
    ...wanted.filter((value) => !before.some((each) => same(each, value))),
  ];
  return changeSet({ name, type, values }, change, options, io);
};

/** `moor record remove`: these values, or all values of that type. */
export const recordRemove = (
  name: string,
  type: string,
  values: readonly string[],
  options: ManageOptions,
  io: CommandIo,
) => {
  const unwanted = values.map((value) => quoted(type, value));
  const change: Change = (before, same) =>
    values.length === 0 ? [] : before.filter((each) => !unwanted.some((value) => same(each, value)));
  return changeSet({ name, type, values }, change, options, io);
};

/** Texts may be typed without the quotation marks of zone files. */
const quoted = (type: string, value: string): string =>
  type.toUpperCase() === "TXT" && !value.startsWith('"') ? `"${value.replaceAll(/["\\]/g, "\\$&")}"` : value;

/** `moor record take-theirs` and its siblings: ends a drift of a published zone, or sends a refused set again. */
export const recordDecide = (name: string, type: string, verb: string, options: ManageOptions, io: CommandIo) =>
  withSet({ name, type }, options, io, async (api, set) => {
    await write(api, "POST", `${pathOf(set)}/actions/${verb.replaceAll("-", "_")}`, { body: {}, signal: io.signal });
    io.out(options.json ? `${JSON.stringify({ name, type, changed: true })}\n` : `Done: ${name} ${type}\n`);
    return 0;
  });

const changeSet = (
  typed: { readonly name: string; readonly type: string; readonly values: readonly string[] },
  change: Change,
  options: RecordSettings,
  io: CommandIo,
): Promise<number> =>
  withSet(typed, options, io, async (api, set, name) => {
    const { zone, type } = set;
    const unclear = typed.values.flatMap((value) => withoutDotIn(type, value) ?? []);
    if (unclear.length > 0) return refuse(2, unclear.map((target) => whichIsMeant(target, zone)).join("\n"), io);
    const same = sameValue(type, zone);
    const before = await contentOf(api, set);
    const wanted = change(before?.values ?? [], same);
    await bringTo(api, set, { before, wanted, ttl: options.ttl, same }, io.signal);
    const after = await contentOf(api, set);
    print(name, set, { before, after }, options, io);
    return 0;
  });

function withoutDotIn(type: RecordType, value: string): string | undefined {
  const fields = tokenize(value, "value");
  return fields.ok
    ? targetWithoutDot(
        type,
        fields.value.map(({ raw }) => raw),
      )
    : undefined;
}

const whichIsMeant = (target: string, zone: string): string =>
  `${target} has no final dot. Write ${target}. if that is the whole name, or ${target}.${zone}. for a name in the zone`;

async function withSet(
  typed: { readonly name: string; readonly type: string },
  options: ManageOptions,
  io: CommandIo,
  work: (api: RecordsApi, set: SetInZone, name: string) => Promise<number>,
): Promise<number> {
  const name = parseTyped(parseName, typed.name, "NAME");
  if (!name.ok) return refuseFaults(name.faults, io);
  const type = parseType(typed.type.toUpperCase());
  if (type === undefined) return refuse(2, `${typed.type} is not a record type; give one such as A, AAAA or TXT`, io);
  return await withApi(options, io, async (api) => {
    const zone = await zoneOf(api, name.value);
    if (zone === undefined) {
      const add = `${io.program} zone add ${sameService(options)}`.trim();
      return refuse(1, `No zone of this service contains ${typed.name}; create it with: ${add} ZONE`, io);
    }
    return await work(api, { zone, owner: ownerOf(name.value, zone) ?? apex, type }, name.value);
  });
}

type SetInZone = { readonly zone: string; readonly owner: string; readonly type: RecordType };

/** `moor record list`: at the service of the config, whichever it is, or in the store of this machine. */
export async function recordList(typed: string, options: ManageOptions, io: CommandIo): Promise<number> {
  if (options.data === undefined && options.database === undefined)
    return await (await import("../update/ask-target.ts")).list({ ...options, zone: typed }, io);
  const zone = parseTyped(parseZoneName, typed, "ZONE");
  if (!zone.ok) return refuseFaults(zone.faults, io);
  return await withApi(options, io, async (api) => {
    const sets = await listAll(api, `${zonePath(zone.value)}/rrsets`, "rrsets", 100);
    const rows = sets.flatMap(({ name, type, ttl, records }) =>
      (Array.isArray(records) ? records : []).map((record) => {
        const value = isObject(record) ? String(record.value) : "";
        return { name: String(name), type: String(type), ttl: typeof ttl === "number" ? `${ttl}` : "", value };
      }),
    );
    const heads = ["NAME", "TYPE", "TTL", "VALUE"];
    return printList({ json: options.json, forPrograms: rows, heads, rows: rows.map(Object.values) }, io);
  });
}

const pathOf = ({ zone, owner, type }: SetInZone) => `${zonePath(zone)}/rrsets/${encodeURIComponent(owner)}/${type}`;

async function bringTo(
  api: RecordsApi,
  set: SetInZone,
  edited: {
    readonly before: Content | undefined;
    readonly wanted: readonly string[];
    readonly ttl: number | undefined;
    readonly same: (one: string, other: string) => boolean;
  },
  signal: AbortSignal,
): Promise<void> {
  const { before, wanted, ttl, same } = edited;
  const records = wanted.map((value) => ({ value }));
  if (before === undefined) {
    if (wanted.length === 0) return;
    const body = { name: set.owner, type: set.type, ttl, records };
    await write(api, "POST", `${zonePath(set.zone)}/rrsets`, { body, signal });
    return;
  }
  if (wanted.length === 0) {
    await write(api, "DELETE", pathOf(set), { signal });
    return;
  }
  const isSame =
    wanted.length === before.values.length && wanted.every((value) => before.values.some((each) => same(each, value)));
  if (!isSame) await write(api, "POST", `${pathOf(set)}/actions/set_records`, { body: { records }, signal });
  if (ttl !== undefined && ttl !== before.ttl)
    await write(api, "POST", `${pathOf(set)}/actions/change_ttl`, { body: { ttl }, signal });
}

/** Values are compared as DNS does: `2001:DB8::1` is `2001:db8::1`. */
const sameValue = (type: RecordType, zone: string) => {
  const canonical = (text: string) => {
    const parsed = parseRdata(type, text, zone);
    return parsed.ok ? parsed.value.text : text;
  };
  return (one: string, other: string): boolean => canonical(one) === canonical(other);
};

/** The innermost zone of the service that contains the name. */
async function zoneOf(api: RecordsApi, name: string): Promise<string | undefined> {
  for (const zone of enclosing(name)) {
    const { status } = await call(api, "GET", zonePath(zone), { expected: [404] });
    if (status !== 404) return zone;
  }
  return undefined;
}

async function contentOf(api: RecordsApi, set: SetInZone): Promise<Content | undefined> {
  const { status, body } = await call(api, "GET", pathOf(set), { expected: [404] });
  if (status === 404) return undefined;
  const { ttl, records } = isObject(body.rrset) ? body.rrset : {};
  if (!Array.isArray(records)) throw new Error("the service sent a record set without records");
  return {
    ttl: typeof ttl === "number" ? ttl : null,
    values: records.flatMap((record) => (isObject(record) ? [readableValue(set.type, String(record.value))] : [])),
  };
}

type Edited = { readonly before: Content | undefined; readonly after: Content | undefined };

/** Targets are printed as whole names: only they say what is served. */
function print(name: string, set: SetInZone, { before, after }: Edited, { json }: ManageOptions, io: CommandIo): void {
  const type = typeName(set.type);
  const changed = JSON.stringify(before) !== JSON.stringify(after);
  const valuesOf = (content: Content) => content.values.map((value) => wholeNames(value, set));
  if (json) {
    const values = after === undefined ? [] : valuesOf(after);
    io.out(`${JSON.stringify({ name, type, ttl: after?.ttl ?? null, values, changed })}\n`);
    return;
  }
  const shown = (content: Content | undefined) =>
    content === undefined
      ? "none"
      : `${valuesOf(content).join(", ")}${content.ttl === null ? "" : ` (TTL ${content.ttl})`}`;
  const was = changed ? `, was: ${shown(before)}` : ", unchanged";
  io.out(`${nameToUnicode(name)} ${type}: ${shown(after)}${was}\n`);
}

function wholeNames(value: string, { type, zone }: SetInZone): string {
  if (!definitionOf(type).fields.some((_, field) => isTarget(type, field))) return value;
  const parsed = parseRdata(type, value, zone);
  return parsed.ok ? parsed.value.text : value;
}
