import { ownerOf } from "../../core/names/name.ts";
import { exactRdata, rdataFromFields } from "../../core/rdata/rdata.ts";
import { typeFromCode } from "../../core/rdata/table.ts";
import { compareSerials } from "../../core/records/serial.ts";
import type { ZoneLine, ZoneStep } from "../../core/records/zone-lines.ts";
import { classes } from "../../lib/dns/codes.ts";
import type { ResourceRecord } from "../../lib/dns/message.ts";
import { soaSerialOf, ttlOf } from "../../lib/dns/message.ts";

export type Received =
  /** The primary has nothing newer. */
  | { readonly kind: "same" }
  | { readonly kind: "whole"; readonly serial: number; readonly lines: readonly ZoneLine[] }
  /** Apply them one after another; in each, removals first. */
  | { readonly kind: "steps"; readonly serial: number; readonly since: number; readonly steps: readonly ZoneStep[] };

/** Memory of a line in addition to its texts. */
const lineBytes = 64;

export type TransferAssembly = ReturnType<typeof createTransferAssembly>;

/**
 * Assembles a transfer record by record, for a secondary that has version `since`. Each record is looked at once: the
 * serials in SOA records show where a difference ends (RFC 1995 section 4), without looking back.
 */
export function createTransferAssembly(zone: string, since: number | undefined) {
  let records = 0;
  let bytes = 0;
  let serial = Number.NaN;
  let ended = false;
  /** Of a whole zone, or of the current part of a difference. */
  let lines: ZoneLine[] = [];
  let removed: readonly ZoneLine[] | undefined;
  let steps: ZoneStep[] | undefined;
  let version = since;

  const keep = (record: ResourceRecord) => {
    const line = toLine(record, zone);
    if (line === undefined) return;
    lines.push(line);
    bytes += line.owner.length + line.rdata.length + (line.value?.length ?? 0) + lineBytes;
  };
  const nextPart = (at: number) => {
    if (steps === undefined) {
      steps = [];
      if (at !== version) throw new Error(notInOrder);
    } else if (removed === undefined) {
      removed = lines;
      version = at;
    } else {
      steps.push({ removed, added: lines });
      removed = undefined;
      if (version === serial && at === serial) ended = true;
      else if (at !== version) throw new Error(notInOrder);
    }
    lines = [];
  };

  return {
    /** Throws when the records cannot be a transfer of the zone. */
    add: (record: ResourceRecord): void => {
      if (ended) throw new Error("the transfer continues after its last SOA record");
      records += 1;
      const at = record.name === zone ? soaSerialOf(record) : undefined;
      if (records === 1) {
        if (at === undefined) throw new Error("the transfer does not start with the SOA record");
        serial = at;
        return keep(record);
      }
      const isDifference = steps !== undefined || (records === 2 && since !== undefined && at !== serial);
      if (at !== undefined && isDifference) nextPart(at);
      else if (at === serial) ended = true;
      if (!ended) keep(record);
    },
    /** Call this after each message: it returns the transfer when it is complete. */
    whole: (): Received | undefined => {
      if (records === 1 && since !== undefined && compareSerials(serial, since) !== 1) return { kind: "same" };
      if (!ended) return undefined;
      return steps && since !== undefined ? { kind: "steps", serial, since, steps } : { kind: "whole", serial, lines };
    },
    records: (): number => records,
    /** Roughly the memory that it takes. */
    bytes: (): number => bytes,
  };
}

const notInOrder = "the serials of the incremental transfer are not consecutive";

/** Undefined for a record outside the zone: it is ignored (RFC 5936 section 3.4). */
export function toLine(record: ResourceRecord, zone: string): ZoneLine | undefined {
  const owner = ownerOf(record.name, zone);
  const type = typeFromCode(record.type);
  if (owner === undefined || record.class !== classes.in) return undefined;
  const read = type && exactRdata(type, record.data);
  if (!type || !read?.ok) throw new Error(`a record of type ${record.type} at ${record.name} cannot be read`);
  const { text: rdata, bytes, fields } = read.value;
  const value = bytes && { value: rdataFromFields(type, fields).text };
  return { owner, type, ttl: ttlOf(record), rdata, ...value };
}
