import { isKnownType } from "../../core/rdata/table.ts";
import { parseTtl } from "../../core/records/rrset.ts";
import { type Fault, fail, ok, type Result } from "../../core/result.ts";
import type { RecordDraft } from "../service/record-rules.ts";
import type { ServerDraft } from "../service/zones/primary-servers.ts";
import { readV1Value } from "./text.ts";

/**
 * Bodies of the v1 API, read as leniently as its clients need: unknown keys are ignored, keys may be in any case, as the original's
 * decoder (Go) has it, and a TTL may be null or a text.
 */

export type RecordInput = { readonly zoneId: string; readonly draft: RecordDraft };

export function recordFromWire(body: unknown): Result<RecordInput> {
  const keys = keysOf(body);
  const faults: Fault[] = [];
  const zoneId = textAt(keys, "zone_id", faults);
  const type = textAt(keys, "type", faults);
  const name = textAt(keys, "name", faults);
  const value = textAt(keys, "value", faults);
  const ttl = ttlAt(keys, faults);
  if (faults.length > 0) return fail(...faults);
  // A zone's SOA is made with it and cannot be made or edited by itself.
  if (!isKnownType(type) || type === "SOA") return fail(typeNotAllowed(type));
  return ok({ zoneId, draft: { type, name, ttl, ...readV1Value(type, value) } });
}

/** As a record, and the id of the one that it shall replace. */
export function changedRecordFromWire(body: unknown): Result<RecordInput & { readonly id: string }> {
  const faults: Fault[] = [];
  const id = textAt(keysOf(body), "id", faults);
  const record = recordFromWire(body);
  if (!record.ok) return fail(...faults, ...record.faults);
  return faults.length > 0 ? fail(...faults) : ok({ ...record.value, id });
}

const maximumBulk = 10_000;

/** The entries of a bulk, not yet read. */
export function bulkFromWire(body: unknown): Result<readonly unknown[]> {
  const { records } = keysOf(body);
  if (records === ambiguous) return fail(ambiguousKey("records"));
  if (!Array.isArray(records)) {
    const message = "records must be a list";
    return fail({ code: records === undefined ? "missing-key" : "bad-key", where: "records", message });
  }
  if (records.length <= maximumBulk) return ok(records);
  const message = `a bulk has at most ${maximumBulk} records, this one has ${records.length}`;
  return fail({ code: "bulk-too-long", where: "records", message, todo: "send it in parts" });
}

/** What an answer repeats of an entry that was not processed. */
export function echoOf(entry: unknown, keys: readonly string[]): Record<string, unknown> {
  const sent = keysOf(entry);
  return Object.fromEntries(keys.flatMap((key) => (isFlat(sent[key]) ? [[key, sent[key]]] : [])));
}

const isFlat = (value: unknown): boolean => ["string", "number", "boolean"].includes(typeof value) || value === null;

export function primaryServerFromWire(body: unknown): Result<{ readonly zoneId: string; readonly draft: ServerDraft }> {
  const keys = keysOf(body);
  const faults: Fault[] = [];
  const zoneId = textAt(keys, "zone_id", faults);
  const address = textAt(keys, "address", faults);
  const { port } = keys;
  if (port === undefined || port === null) {
    faults.push({ code: "missing-key", where: "port", message: "port is missing" });
  }
  if (port === ambiguous) faults.push(ambiguousKey("port"));
  const number = typeof port === "string" && /^\d{1,5}$/.test(port) ? Number(port) : port;
  const draft = { address, port: typeof number === "number" ? number : Number.NaN };
  return faults.length > 0 ? fail(...faults) : ok({ zoneId, draft });
}

export function zoneFromWire(body: unknown): Result<{ readonly name: string; readonly ttl: number | undefined }> {
  const keys = keysOf(body);
  const faults: Fault[] = [];
  const name = textAt(keys, "name", faults);
  const ttl = ttlAt(keys, faults);
  return faults.length > 0 ? fail(...faults) : ok({ name, ttl });
}

/** What an error message may repeat of a body that was refused. */
export function subjectOf(body: unknown): { type?: string; name?: string; value?: string } {
  const { type, name, value } = keysOf(body);
  return {
    ...(typeof type === "string" && { type }),
    ...(typeof name === "string" && { name }),
    ...(typeof value === "string" && { value }),
  };
}

type Keys = Readonly<Record<string, unknown>>;

/** By their lower case. Which of two spellings of one key would count is a guess: what stands there is then `ambiguous`. */
function keysOf(body: unknown): Keys {
  if (typeof body !== "object" || body === null) return {};
  const entries = Object.entries(body);
  const keys: Record<string, unknown> = Object.fromEntries(entries.map(([key, value]) => [key.toLowerCase(), value]));
  if (Object.keys(keys).length < entries.length) {
    const spellings = Map.groupBy(entries, ([key]) => key.toLowerCase());
    for (const [key, given] of spellings) if (given.length > 1) keys[key] = ambiguous;
  }
  return keys;
}

const ambiguous = Symbol("given in two spellings");

const ambiguousKey = (key: string): Fault => ({
  code: "bad-key",
  where: key,
  message: `${key} is given more than once, by keys that differ only by case`,
  todo: "give it once",
});

function textAt(keys: Keys, key: string, faults: Fault[]): string {
  const value = keys[key];
  if (typeof value === "string") return value;
  if (value === ambiguous) {
    faults.push(ambiguousKey(key));
    return "";
  }
  const missing = value === undefined || value === null;
  faults.push({
    code: missing ? "missing-key" : "bad-key",
    where: key,
    message: missing ? `${key} is missing` : `${key} must be a text`,
  });
  return "";
}

function ttlAt(keys: Keys, faults: Fault[]): number | undefined {
  const { ttl } = keys;
  if (ttl === undefined || ttl === null) return undefined;
  if (ttl === ambiguous) {
    faults.push(ambiguousKey("ttl"));
    return undefined;
  }
  const parsed = parseTtl(typeof ttl === "string" && /^\d{1,10}$/.test(ttl) ? Number(ttl) : ttl);
  if (parsed.ok) return parsed.value;
  faults.push(...parsed.faults);
  return undefined;
}

const typeNotAllowed = (type: string): Fault => ({
  code: "type-not-allowed",
  where: "type",
  message: `records of type ${type} cannot be made`,
});
