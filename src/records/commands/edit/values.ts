import { parseOwner } from "../../../core/names/name.ts";
import { isQuoted } from "../../../core/rdata/fields/tokens.ts";
import { parseRdata } from "../../../core/rdata/rdata.ts";
import { isRecordType, type RecordType } from "../../../core/rdata/table.ts";
import type { SetKey } from "../../../core/records/rrset.ts";
import { withSerial } from "../../../core/records/serial.ts";
import { type Fault, fail, ok, type Result } from "../../../core/result.ts";
import type { Zone } from "../../model.ts";
import type { ValueDraft } from "../requests.ts";

/** Names and values of the record-set API: stricter than zone files, so that nothing is misunderstood. */

export type Value = ValueDraft & { readonly rdata: string };
type ZoneNow = Pick<Zone, "name" | "serial">;

/** Refuses a name that ends in the zone's name: in a zone file it would not mean what most people expect. */
export function readSetKey(name: string, type: string, zoneName: string, where = ""): Result<SetKey> {
  const faults: Fault[] = [];
  if (!isRecordType(type)) faults.push(unknownType(type, `${where}type`));
  const folded = name.toLowerCase();
  const absolute = folded.endsWith(".") || folded === zoneName || folded.endsWith(`.${zoneName}`);
  if (absolute || name === "") faults.push(nameWithZone(name, zoneName, `${where}name`));
  if (faults.length > 0 || !isRecordType(type)) return fail(...faults);
  const owner = parseOwner(name, zoneName, `${where}name`);
  return owner.ok ? ok({ owner: owner.value, type }) : owner;
}

/** Reads all values and reports all faults. Two values with the same meaning are a fault. */
export function readValues(
  type: RecordType,
  drafts: readonly ValueDraft[],
  zone: ZoneNow,
  where = "rrsets[0].",
): Result<readonly Value[]> {
  const faults: Fault[] = [];
  const seen = new Set<string>();
  const values = drafts.flatMap((draft, i) => {
    const read = readValue(type, draft, zone, `${where}records[${i}].value`);
    if (!read.ok) {
      faults.push(...read.faults);
      return [];
    }
    if (seen.has(read.value.rdata)) faults.push(duplicateValue(draft.value, i));
    seen.add(read.value.rdata);
    return [read.value];
  });
  return faults.length > 0 ? fail(...faults) : ok(values);
}

function readValue(type: RecordType, { value, comment }: ValueDraft, zone: ZoneNow, where: string): Result<Value> {
  if (type === "TXT" && !isQuoted(value)) return fail(unquoted(where));
  const rdata = parseRdata(type, value, zone.name, where);
  if (!rdata.ok) return fail(...rdata.faults.map((fault) => badValue(value, fault, where)));
  if (type !== "SOA") return ok({ value, rdata: rdata.value.text, comment });
  // The serial is always the zone's, whatever the client sent.
  const soa = withSerial(rdata.value.text, zone.serial);
  return ok({ value: soa, rdata: soa, comment });
}

export const duplicateValue = (value: string, i: number): Fault => ({
  code: "duplicate-value",
  where: `records[0].records[${i}].value`,
  message: `duplicate value '${value}'`,
  todo: "remove it: a set can hold each value only once",
});

const unquoted = (where: string): Fault => ({
  code: "unquoted-text",
  where,
  message: "TXT records must be fully escaped with double quotes",
  todo: 'write each string as "...", with \\" for a quote inside it',
});

const badValue = (value: string, fault: Fault, where: string): Fault => ({
  ...fault,
  where,
  message:
    fault.code === "string-too-long"
      ? `a TXT string exceeds 255 characters: ${fault.message}`
      : `invalid value '${value.length > 300 ? `${value.slice(0, 300)}...` : value}': ${fault.message}`,
});

const unknownType = (type: string, where: string): Fault => ({
  code: "unknown-type",
  where,
  message: `${JSON.stringify(type.slice(0, 40))} is not a record type`,
});

const nameWithZone = (name: string, zoneName: string, where: string): Fault => ({
  code: "name-with-zone",
  where,
  message: `the name ${JSON.stringify(name.slice(0, 80))} is not relative to the zone ${zoneName}`,
  todo: "omit the zone name and the trailing dot; @ is the zone itself",
});
