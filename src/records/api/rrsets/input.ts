import { longestComment, lowestTtl, mostChanges, mostRecords } from "../../../contract/rrsets-limits.ts";
import { parseAddress } from "../../../core/addresses/address.ts";
import { portOf } from "../../../core/addresses/primary-address.ts";
import { isObject } from "../../../core/is-object.ts";
import { type Labels, readLabels } from "../../../core/labels.ts";
import { isRecordType } from "../../../core/rdata/table.ts";
import { highestTtl } from "../../../core/records/rrset.ts";
import { badInput, type Fault, fail, failAll, ok, type Result } from "../../../core/result.ts";
import { hasControls } from "../../../core/visible-text.ts";
import type { NewZoneDraft, ServerDraft, SetChange, SetDraft, ValueDraft } from "../../commands/requests.ts";

/**
 * Reads bodies of the record-set API. Unknown keys are ignored; null means "not given" where clients send it that way.
 * The schemas in contract/rrsets.ts are for documentation only: an interpreter for them that gave exactly these
 * messages was longer than these readers and fifty times slower.
 */

export type BodyFields = Readonly<Record<string, unknown>>;

/**
 * Reads a body with one reader per field. A reader notes its faults and goes on, so that all faults are reported
 * together.
 */
export function readBody<T>(body: unknown, read: (fields: BodyFields, faults: Fault[]) => T): Result<T> {
  // A request without required fields may come without a body.
  const bodyFields = body ?? {};
  if (!isObject(bodyFields)) return fail(badInput("body", "must be an object"));
  const faults: Fault[] = [];
  const value = read(bodyFields, faults);
  return faults.length > 0 ? failAll(faults) : ok(value);
}

export function zoneFromBody(fields: BodyFields, faults: Fault[]): NewZoneDraft {
  const mode = fields.mode === "secondary" ? "secondary" : "primary";
  if (fields.mode !== mode)
    faults.push(badInput("mode", isGiven(fields.mode) ? "must be primary or secondary" : "is missing"));
  const file = mode === "primary" && isGiven(fields.zonefile) ? textAt(fields, "zonefile", faults) : "";
  const sets = mode === "primary" && isGiven(fields.rrsets) ? setsAt(fields, "rrsets", faults) : [];
  if (file !== "" && sets.length > 0) faults.push(badInput("zonefile", "cannot be given together with rrsets"));
  return {
    name: textAt(fields, "name", faults),
    mode,
    ttl: ttlAt(fields, faults) ?? undefined,
    labels: labelsAt(fields, faults) ?? {},
    locked: lockAt(fields, "delete"),
    primaries: mode === "secondary" && isGiven(fields.primary_nameservers) ? primariesAt(fields, faults) : [],
    content: file === "" ? { kind: "sets", sets } : { kind: "file", text: file, own: ownSetsAt(fields, faults) },
  };
}

export const ownSetsAt = (fields: BodyFields, faults: Fault[]) =>
  choiceAt(fields, "own_records", ["zone", "file"] as const, faults);

export function choiceAt<T extends string>(
  fields: BodyFields,
  key: string,
  choices: readonly T[],
  faults: Fault[],
): T | undefined {
  const value = fields[key];
  if (!isGiven(value)) return undefined;
  const validChoice = choices.find((choice) => choice === value);
  if (validChoice === undefined) faults.push(badInput(key, `must be one of ${choices.join(", ")}`));
  return validChoice;
}

export const setFromBody = (fields: BodyFields, faults: Fault[], where = "") => {
  const [ttl, labels] = [ttlAt(fields, faults, where), labelsAt(fields, faults, where)];
  return {
    name: textAt(fields, "name", faults, where),
    type: typeAt(fields, faults, where),
    records: recordsAt(fields, faults, { where }),
    ttl,
    ...(labels && { labels }),
    locked: lockAt(fields, "change"),
  };
};

export const changesFromBody = (fields: BodyFields, faults: Fault[]) => {
  const { expected_serial: expected } = fields;
  if (isGiven(expected) && !Number.isInteger(expected)) faults.push(badInput("expected_serial", "must be an integer"));
  const changes = listAt(fields, "changes", faults, { least: 1, most: mostChanges }).map((each, i): SetChange => {
    const where = `changes[${i}].`;
    const entry = isObject(each) ? each : {};
    if (entry.delete !== true) {
      const { name, type, ...to } = setFromBody(entry, faults, where);
      return { name, type, to };
    }
    if (isGiven(entry.records)) faults.push(badInput(`${where}records`, "cannot be given together with delete"));
    return { name: textAt(entry, "name", faults, where), type: typeAt(entry, faults, where), to: "gone" };
  });
  return { changes, expectedSerial: Number.isInteger(expected) ? Number(expected) : undefined };
};

/** Comments may be absent or null, except in the call that changes comments. */
export function recordsAt(
  fields: BodyFields,
  faults: Fault[],
  { where = "", comments = "optional" }: { readonly where?: string; readonly comments?: "optional" | "required" } = {},
): readonly ValueDraft[] {
  return listAt(fields, "records", faults, { least: 1, most: mostRecords, where }).map((each, i) => {
    const place = `${where}records[${i}].`;
    const record = isObject(each) ? each : {};
    const comment = isGiven(record.comment) || comments === "required" ? textAt(record, "comment", faults, place) : "";
    if (Buffer.byteLength(comment) > longestComment) {
      faults.push(badInput(`${place}comment`, `is longer than ${longestComment} bytes`));
    }
    if (hasControls(comment)) faults.push(badInput(`${place}comment`, "has a line break or another control character"));
    if (!comment.isWellFormed()) faults.push(badInput(`${place}comment`, "is not valid Unicode"));
    return { value: textAt(record, "value", faults, place), comment };
  });
}

/** Undefined: not given; null: the zone's default. */
export function ttlAt(fields: BodyFields, faults: Fault[], where = ""): SetDraft["ttl"] {
  const { ttl } = fields;
  if (ttl === undefined || ttl === null) return ttl;
  const problem = !Number.isInteger(ttl)
    ? "must be an integer"
    : Number(ttl) < lowestTtl
      ? "is too small"
      : Number(ttl) > highestTtl
        ? "is too large"
        : undefined;
  if (problem === undefined) return Number(ttl);
  faults.push(badInput(`${where}ttl`, problem));
  return undefined;
}

export function labelsAt(fields: BodyFields, faults: Fault[], where = ""): Labels | undefined {
  if (!isGiven(fields.labels)) return undefined;
  const labels = readLabels(fields.labels, `${where}labels`);
  if (labels.ok) return labels.value;
  faults.push(...labels.faults);
  return undefined;
}

export function textAt(fields: BodyFields, key: string, faults: Fault[], where = ""): string {
  const value = fields[key];
  if (typeof value === "string") return value;
  faults.push(badInput(`${where}${key}`, isGiven(value) ? "must be a string" : "is missing"));
  return "";
}

export function flagAt(fields: BodyFields, key: string, faults: Fault[]): boolean {
  const value = fields[key];
  if (typeof value === "boolean") return value;
  faults.push(badInput(key, isGiven(value) ? "must be a boolean" : "is missing"));
  return false;
}

export function primariesAt(fields: BodyFields, faults: Fault[]): readonly ServerDraft[] {
  return listAt(fields, "primary_nameservers", faults, { least: 1, most: 20 }).map((each, i): ServerDraft => {
    const where = `primary_nameservers[${i}].`;
    const server = isObject(each) ? each : {};
    const address = textAt(server, "address", faults, where);
    const isAddress = typeof server.address !== "string" || parseAddress(address) !== undefined;
    if (!isAddress) faults.push(badInput(`${where}address`, "is not an IP address"));
    const port = isGiven(server.port) ? portOf(server.port) : 53;
    if (port === undefined) faults.push(badInput(`${where}port`, "is not a port"));
    const tsig = tsigAt(server, faults, where);
    return { address: parseAddress(address)?.text ?? address, port: port ?? 0, ...(tsig && { tsig }) };
  });
}

/** TTL and labels are in the draft only if they were given. */
export function draftAt(fields: BodyFields, faults: Fault[], where = ""): SetDraft {
  const [ttl, labels] = [ttlAt(fields, faults, where), labelsAt(fields, faults, where)];
  return { records: recordsAt(fields, faults, { where }), ttl, ...(labels && { labels }) };
}

const tsigAlgorithms: readonly unknown[] = ["hmac-md5", "hmac-sha1", "hmac-sha256"];
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

function tsigAt(fields: BodyFields, faults: Fault[], where: string): ServerDraft["tsig"] {
  const { tsig_algorithm: algorithm, tsig_key: key } = fields;
  if (!isGiven(algorithm) && !isGiven(key)) return undefined;
  if (!tsigAlgorithms.includes(algorithm)) {
    faults.push(badInput(`${where}tsig_algorithm`, `must be one of ${tsigAlgorithms.join(", ")}`));
  }
  if (typeof key !== "string" || !base64.test(key)) faults.push(badInput(`${where}tsig_key`, "must be base64"));
  return { algorithm: String(algorithm), key: String(key) };
}

function typeAt(fields: BodyFields, faults: Fault[], where: string): string {
  const type = textAt(fields, "type", faults, where);
  if (type !== "" && !isRecordType(type)) faults.push(badInput(`${where}type`, "is not a supported record type"));
  return type;
}

function setsAt(fields: BodyFields, key: string, faults: Fault[]) {
  return listAt(fields, key, faults, { least: 0, most: mostChanges }).map((each, i) =>
    setFromBody(isObject(each) ? each : {}, faults, `${key}[${i}].`),
  );
}

/** One client sends `protection` with a new zone or set. */
const lockAt = (fields: BodyFields, what: "delete" | "change"): boolean =>
  isObject(fields.protection) && fields.protection[what] === true;

function listAt(
  fields: BodyFields,
  key: string,
  faults: Fault[],
  { least, most, where = "" }: { readonly least: number; readonly most: number; readonly where?: string },
): readonly unknown[] {
  const list = fields[key];
  if (!Array.isArray(list)) {
    faults.push(badInput(`${where}${key}`, isGiven(list) ? "must be an array" : "is missing"));
    return [];
  }
  if (list.length < least) faults.push(badInput(`${where}${key}`, "must not be empty"));
  if (list.length > most) faults.push(badInput(`${where}${key}`, `has more than ${most} entries`));
  return list.slice(0, most);
}

export const isGiven = (value: unknown): boolean => value !== undefined && value !== null;
