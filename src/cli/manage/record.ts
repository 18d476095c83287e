import { isObject } from "../../core/is-object.ts";
import { apex, enclosing, ownerOf, parseName } from "../../core/names/name.ts";
import { nameToUnicode, parseTyped } from "../../core/names/unicode.ts";
import { parseRdata, readableValue } from "../../core/rdata/rdata.ts";
import { parseType, type RecordType, typeName } from "../../core/rdata/table.ts";
import { type CommandIo, refuse } from "../io/command-io.ts";
import { printFaults } from "../io/print-faults.ts";
import { call, type ManageOptions, type RecordsApi, sameService, write } from "./records-api.ts";
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
  });

const changeSet = (
  typed: { readonly name: string; readonly type: string; readonly values: readonly string[] },
  change: Change,
  options: RecordSettings,
  io: CommandIo,
): Promise<number> =>
  withSet(typed, options, io, async (api, set, name) => {
    const { zone, type } = set;
    const same = sameValue(type, zone);
    const before = await contentOf(api, set);
    const wanted = change(before?.values ?? [], same);
    await bringTo(api, set, { before, wanted, ttl: options.ttl, same }, io.signal);
    const after = await contentOf(api, set);
    print({ name, type: typeName(type), before, after }, options, io);
  });

async function withSet(
  typed: { readonly name: string; readonly type: string },
  options: ManageOptions,
  io: CommandIo,
  work: (api: RecordsApi, set: SetInZone, name: string) => Promise<void>,
): Promise<number> {
  const name = parseTyped(parseName, typed.name, "NAME");
  if (!name.ok) {
    printFaults(name.faults, io);
    return 2;
  }
  const type = parseType(typed.type.toUpperCase());
  if (type === undefined) return refuse(2, `${typed.type} is not a record type; give one such as A, AAAA or TXT`, io);
  return await withApi(options, io, async (api) => {
    const zone = await zoneOf(api, name.value);
    if (zone === undefined) {
      const add = `${io.program} zone add ${sameService(options)}`.trim();
      return refuse(1, `No zone of this service contains ${typed.name}; create it with: ${add} ZONE`, io);
    }
    await work(api, { zone, owner: ownerOf(name.value, zone) ?? apex, type }, name.value);
    return 0;
  });
}

type SetInZone = { readonly zone: string; readonly owner: string; readonly type: RecordType };

const pathOf = ({ zone, owner, type }: SetInZone) => `/zones/${zone}/rrsets/${encodeURIComponent(owner)}/${type}`;

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
    await write(api, "POST", `/zones/${set.zone}/rrsets`, { body, signal });
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
    const { status } = await call(api, "GET", `/zones/${zone}`, { expected: [404] });
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

function print(
  {
    name,
    type,
    before,
    after,
  }: { name: string; type: string; before: Content | undefined; after: Content | undefined },
  { json }: ManageOptions,
  io: CommandIo,
): void {
  const changed = JSON.stringify(before) !== JSON.stringify(after);
  const values = after?.values ?? [];
  if (json) {
    io.out(`${JSON.stringify({ name, type, ttl: after?.ttl ?? null, values, changed })}\n`);
    return;
  }
  const shown = (content: Content | undefined) =>
    content === undefined
      ? "none"
      : `${content.values.join(", ")}${content.ttl === null ? "" : ` (TTL ${content.ttl})`}`;
  const was = changed ? `, was: ${shown(before)}` : ", unchanged";
  io.out(`${nameToUnicode(name)} ${type}: ${shown(after)}${was}\n`);
}
