import { isObject } from "../../../core/is-object.ts";
import { parseOwner } from "../../../core/names/name.ts";
import { parseRdata } from "../../../core/rdata/rdata.ts";
import { isRecordType } from "../../../core/rdata/table.ts";
import { parseTtl, type RRset, type ZoneRecord } from "../../../core/records/rrset.ts";
import type { SetRow } from "../../store/rows.ts";
import { parsed, restoreIt, type Step } from "./step.ts";

/** Reads a row and reports every fault in it. Undefined if it cannot be read. */
export function readSet(row: SetRow, zoneName: string, step: Pick<Step, "fault">): RRset | undefined {
  const { owner, type, ttl } = row;
  const where = `zone ${zoneName}, ${owner} ${type}`;
  const fault = (code: string, message: string, todo = writeAgain) => step.fault(code, where, message, todo);
  const name = parseOwner(owner, zoneName);
  if (!name.ok || name.value !== owner) fault("name-not-canonical", "its name is not in canonical form");
  if (!isRecordType(type)) {
    fault("unknown-type", "its record type is unknown", restoreIt);
    return undefined;
  }
  if (ttl !== null && !parseTtl(ttl).ok) fault("bad-ttl", `its TTL ${ttl} is not valid`);
  const marks = row.marks === null ? {} : parsed(row.marks);
  if (!isObject(marks)) fault("marks-unreadable", "its labels and protection are not valid");
  const records = parsed(row.records);
  if (!Array.isArray(records) || !records.every(isRecord)) {
    fault("records-unreadable", "its records are not valid", restoreIt);
    return undefined;
  }
  for (const { rdata } of records) {
    const read = parseRdata(type, rdata, zoneName);
    if (!read.ok)
      fault(
        "value-unreadable",
        `its value ${rdata.slice(0, 60)} is not a valid ${type} record: ${read.faults[0]?.message}`,
      );
    else if (read.value.text !== rdata)
      fault("value-not-canonical", `its value ${rdata.slice(0, 60)} is not in canonical form`);
  }
  return { owner, type, ttl, records, ...(isObject(marks) && marks) };
}

const writeAgain = "write the set again through an API, or restore a backup";

const isRecord = (value: unknown): value is ZoneRecord =>
  isObject(value) &&
  ["id", "name", "value", "rdata", "comment"].every((key) => typeof value[key] === "string") &&
  ["created", "modified"].every((key) => typeof value[key] === "number");
