import { highestTtl } from "../../core/records/rrset.ts";
import { types } from "./codes.ts";
import type { ResourceRecord } from "./message.ts";

/** RFC 2181 section 8: a TTL with its highest bit set counts as 0. */
export const ttlOf = ({ ttl }: ResourceRecord): number => (ttl > highestTtl ? 0 : ttl);

/** An SOA has two names, then five numbers; the serial is the first. Undefined for other records. */
export function soaSerialOf({ type, data }: ResourceRecord): number | undefined {
  if (type !== types.soa || data.length < 22) return undefined;
  return Buffer.from(data.subarray(-20)).readUInt32BE(0);
}
