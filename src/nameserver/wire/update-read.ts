import { ownerOf } from "../../core/names/name.ts";
import { rdataFromWire } from "../../core/rdata/rdata.ts";
import { type RecordType, typeFromCode } from "../../core/rdata/table.ts";
import type { Prerequisite, RecordUpdate } from "../../core/records/dns-update.ts";
import { classes, rcodes, types } from "../../lib/dns/codes.ts";
import type { Message, ResourceRecord } from "../../lib/dns/message.ts";
import { ttlOf } from "../../lib/dns/message.ts";

/** What an UPDATE message asks for (RFC 2136 section 2), with owners relative to the zone. */
export type UpdateRequest = {
  readonly zone: string;
  readonly prerequisites: readonly Prerequisite[];
  readonly updates: readonly RecordUpdate[];
};

/** The request, or the response code for an invalid one. */
export function readUpdate(message: Message): UpdateRequest | number {
  const [zone, second] = message.questions;
  // Section 3.1.1.
  if (zone === undefined || second !== undefined || zone.type !== types.soa) return rcodes.formErr;
  if (zone.class !== classes.in) return rcodes.notAuth;
  const prerequisites = readAll(message.answers, (record) => readPrerequisite(record, zone.name));
  if (typeof prerequisites === "number") return prerequisites;
  const updates = readAll(message.authorities, (record) => readOne(record, zone.name));
  if (typeof updates === "number") return updates;
  return { zone: zone.name, prerequisites, updates };
}

function readAll<T extends object>(
  records: readonly ResourceRecord[],
  read: (record: ResourceRecord) => T | number,
): readonly T[] | number {
  const all: T[] = [];
  for (const record of records) {
    const one = read(record);
    if (typeof one === "number") return one;
    all.push(one);
  }
  return all;
}

/** Section 3.2.5: the class determines the kind of condition. */
function readPrerequisite(record: ResourceRecord, zone: string): Prerequisite | number {
  const owner = ownerOf(record.name, zone);
  if (record.ttl !== 0) return rcodes.formErr;
  if (owner === undefined) return rcodes.notZone;
  if (record.class === classes.in) {
    const read = readData(record);
    return typeof read === "number" ? read : { kind: "set-is", owner, ...read };
  }
  if (record.data.length > 0 || (record.class !== classes.any && record.class !== classes.none)) return rcodes.formErr;
  const exists = record.class === classes.any;
  if (record.type === types.any) return { kind: exists ? "name-in-use" : "name-not-in-use", owner };
  const type = typeFromCode(record.type);
  return type === undefined ? rcodes.formErr : { kind: exists ? "set-exists" : "set-absent", owner, type };
}

/** Section 3.4.1: the whole section is checked before any of it is applied. */
function readOne(record: ResourceRecord, zone: string): RecordUpdate | number {
  const owner = ownerOf(record.name, zone);
  if (owner === undefined) return rcodes.notZone;
  switch (record.class) {
    case classes.in: {
      const read = readData(record);
      return typeof read === "number" ? read : { kind: "add", owner, ttl: ttlOf(record), ...read };
    }
    case classes.any: {
      if (record.ttl !== 0 || record.data.length > 0) return rcodes.formErr;
      if (record.type === types.any) return { kind: "delete-name", owner };
      const type = typeFromCode(record.type);
      return type === undefined ? rcodes.formErr : { kind: "delete-set", owner, type };
    }
    case classes.none: {
      const read = record.ttl === 0 ? readData(record) : rcodes.formErr;
      return typeof read === "number" ? read : { kind: "delete-record", owner, ...read };
    }
    default:
      return rcodes.formErr;
  }
}

function readData({ type: code, data }: ResourceRecord): { type: RecordType; rdata: string } | number {
  const type = typeFromCode(code);
  if (type === undefined) return rcodes.formErr;
  const read = rdataFromWire(type, data);
  return read.ok ? { type, rdata: read.value.text } : rcodes.formErr;
}
