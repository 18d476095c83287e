import { isObject } from "../../../core/is-object.ts";
import { parseOwner } from "../../../core/names/name.ts";
import { parseRdata } from "../../../core/rdata/rdata.ts";
import { isRecordType } from "../../../core/rdata/table.ts";
import { parseTtl, type RRset, type ZoneRecord } from "../../../core/records/rrset.ts";
import type { SetRow } from "../../store/rows.ts";
import { parsed, restoreIt, type Step } from "./step.ts";

/** What a row says, or undefined when that cannot be told; every fault of it is. */
export function readSet(row: SetRow, zoneName: string, step: Pick<Step, "fault">): RRset | undefined {
  const { owner, type, ttl } = row;
  const where = `zone ${zoneName}, ${owner} ${type}`;
  const fault = (code: string, message: string, todo = writeAgain) => step.fault(code, where, message, todo);
  const name = parseOwner(owner, zoneName);
  if (!name.ok || name.value !== owner) fault("name-not-canonical", "its name is not written as moor writes it");
  if (!isRecordType(type)) {
    fault("unknown-type", "there is no such record type", restoreIt);
    return undefined;
  }
  if (ttl !== null && !parseTtl(ttl).ok) fault("bad-ttl", `its TTL ${ttl} is none`);
  const marks = row.marks === null ? {} : parsed(row.marks);
  if (!isObject(marks)) fault("marks-unreadable", "its labels and its protection cannot be read");
  const records = parsed(row.records);
  if (!Array.isArray(records) || !records.every(isRecord)) {
    fault("records-unreadable", "its records cannot be read", restoreIt);
    return undefined;
  }
  for (const { rdata } of records) {
    const read = parseRdata(type, rdata, zoneName);
    if (!read.ok)
      fault("value-unreadable", `its value ${rdata.slice(0, 60)} is no ${type} record: ${read.faults[0]?.message}`);
    else if (read.value.text !== rdata)
      fault("value-not-canonical", `its value ${rdata.slice(0, 60)} is not written as moor writes it`);
  }
  return { owner, type, ttl, records, ...(isObject(marks) && marks) };
}

const writeAgain = "write the set again through an API, or restore a backup";

const isRecord = (value: unknown): value is ZoneRecord =>
  isObject(value) &&
  ["id", "name", "value", "rdata", "comment"].every((key) => typeof value[key] === "string") &&
  ["created", "modified"].every((key) => typeof value[key] === "number");
