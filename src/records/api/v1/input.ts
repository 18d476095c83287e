import type { Static, TObject } from "typebox";
import { RecordId, RecordInput } from "../../../contract/records-v1.ts";
import { isKnownType } from "../../../core/rdata/table.ts";
import { parseTtl } from "../../../core/records/rrset.ts";
import { type Fault, fail, ok, type Result } from "../../../core/result.ts";
import type { DraftInZone } from "../../commands/requests.ts";
import { readV1Text } from "./text.ts";

/**
 * Reads bodies of the v1 API as leniently as its clients need: unknown keys are ignored, keys are case-insensitive, as
 * in the original's Go decoder, and a TTL may be null or a string.
 */

export function recordFromWire(body: unknown): Result<DraftInZone> {
  const fields = readFields(RecordInput, body);
  if (!fields.ok) return fields;
  const { zone_id: zoneId, type, name, value, ttl } = fields.value;
  // The SOA is created with its zone and cannot be created or edited through this API.
  if (!isKnownType(type) || type === "SOA") return fail(typeNotAllowed(type));
  const text = type === "TXT" ? readV1Text(value) : value;
  return ok({ zoneId, draft: { type, name, ttl: ttl ?? undefined, value, text } });
}

/** A record, and the id of the record that it replaces. */
export function changedRecordFromWire(body: unknown): Result<DraftInZone & { readonly id: string }> {
  const fields = readFields(RecordId, body);
  const record = recordFromWire(body);
  if (fields.ok && record.ok) return ok({ ...record.value, id: fields.value.id });
  return fail(...(fields.ok ? [] : fields.faults), ...(record.ok ? [] : record.faults));
}

const maximumBulk = 10_000;

/** The entries of a bulk request, not yet validated. */
export function bulkFromWire(body: unknown): Result<readonly unknown[]> {
  const { records } = keysOf(body);
  if (records === ambiguous) return fail(ambiguousKey("records"));
  if (!Array.isArray(records)) {
    const message = "records must be a list";
    return fail({ code: records === undefined ? "missing-key" : "bad-key", where: "records", message });
  }
  if (records.length <= maximumBulk) return ok(records);
  const message = `a bulk request may have at most ${maximumBulk} records; this one has ${records.length}`;
  return fail({ code: "bulk-too-long", where: "records", message, todo: "split it into several requests" });
}

/** The part of an unprocessed entry that the answer repeats. */
export function echoOf(entry: unknown, keys: readonly string[]): Record<string, unknown> {
  const sent = keysOf(entry);
  const echo: Record<string, unknown> = {};
  for (const key of keys) if (isFlat(sent[key])) echo[key] = sent[key];
  return echo;
}

const isFlat = (value: unknown): boolean =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" || value === null;

/** The part of a refused body that an error message may repeat. */
export function subjectOf(body: unknown): { type?: string; name?: string; value?: string } {
  const { type, name, value } = keysOf(body);
  return {
    ...(typeof type === "string" && { type }),
    ...(typeof name === "string" && { name }),
    ...(typeof value === "string" && { value }),
  };
}

type Keys = Readonly<Record<string, unknown>>;

/**
 * With keys in lower case. If a key comes in two spellings, its value is `ambiguous`: either choice would be a guess.
 */
function keysOf(body: unknown): Keys {
  if (typeof body !== "object" || body === null) return {};
  const names = Object.keys(body);
  // Copying every entry of a bulk request would take longer than reading it.
  if (names.every((name) => name === name.toLowerCase())) return body as Keys;
  const entries = Object.entries(body);
  const keys: Record<string, unknown> = Object.fromEntries(entries.map(([key, value]) => [key.toLowerCase(), value]));
  if (Object.keys(keys).length < names.length) {
    const spellings = Map.groupBy(entries, ([key]) => key.toLowerCase());
    for (const [key, sameKeys] of spellings) if (sameKeys.length > 1) keys[key] = ambiguous;
  }
  return keys;
}

const ambiguous = Symbol("given in two spellings");

const ambiguousKey = (key: string): Fault => ({
  code: "bad-key",
  where: key,
  message: `${key} is given more than once, in keys that differ only in case`,
  todo: "give it once",
});

/**
 * The fields of a flat body: strings, and numbers, which some clients send as strings. The schema is read as plain
 * JSON, because its library's type guards take longer than the rest of the request.
 */
export function readFields<Body extends TObject>(schema: Body, body: unknown): Result<Static<Body>> {
  const keys = keysOf(body);
  const faults: Fault[] = [];
  const properties: Readonly<Record<string, { readonly type?: string }>> = schema.properties;
  const required: readonly string[] = schema.required ?? [];
  const fields: Record<string, unknown> = {};
  for (const key of Object.keys(properties)) {
    const value = keys[key];
    if (value === ambiguous) faults.push(ambiguousKey(key));
    else if (value !== undefined && value !== null)
      fields[key] = properties[key]?.type === "string" ? readText(key, value, faults) : readNumber(key, value, faults);
    else if (required.includes(key)) faults.push({ code: "missing-key", where: key, message: `${key} is missing` });
  }
  return faults.length > 0 ? fail(...faults) : ok(fields as Static<Body>);
}

function readText(key: string, value: unknown, faults: Fault[]): unknown {
  if (typeof value !== "string") faults.push({ code: "bad-key", where: key, message: `${key} must be a string` });
  return value;
}

/** The service checks the range of ports. */
function readNumber(key: string, value: unknown, faults: Fault[]): number {
  const number = typeof value === "string" && /^\d{1,10}$/.test(value) ? Number(value) : value;
  const ttl = key === "ttl" ? parseTtl(number) : undefined;
  if (ttl?.ok === false) faults.push(...ttl.faults);
  return typeof number === "number" ? number : Number.NaN;
}

const typeNotAllowed = (type: string): Fault => ({
  code: "type-not-allowed",
  where: "type",
  message: `records of type ${type} cannot be created`,
});
