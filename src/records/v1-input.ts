import { isRecordType } from "../core/rdata/table.ts";
import { type Fault, fail, ok, type Result } from "../core/result.ts";
import { parseTtl } from "../core/rrset.ts";
import type { RecordDraft } from "./record-rules.ts";
import { readV1Value } from "./v1-text.ts";
import type { ZoneDraft } from "./zone-operations.ts";

/** Bodies of the v1 API, read as leniently as its clients need: unknown keys are ignored, a TTL may be null or a text. */

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
  if (!isRecordType(type) || type === "SOA") return fail(typeNotAllowed(type));
  return ok({ zoneId, draft: { type, name, ttl, ...readV1Value(type, value) } });
}

export function zoneFromWire(body: unknown): Result<ZoneDraft> {
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

function keysOf(body: unknown): Readonly<Record<string, unknown>> {
  return typeof body === "object" && body !== null ? { ...body } : {};
}

function textAt(keys: Readonly<Record<string, unknown>>, key: string, faults: Fault[]): string {
  const value = keys[key];
  if (typeof value === "string") return value;
  const missing = value === undefined || value === null;
  faults.push({
    code: missing ? "missing-key" : "bad-key",
    where: key,
    message: missing ? `${key} is missing` : `${key} must be a text`,
  });
  return "";
}

function ttlAt(keys: Readonly<Record<string, unknown>>, faults: Fault[]): number | undefined {
  const { ttl } = keys;
  if (ttl === undefined || ttl === null) return undefined;
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
