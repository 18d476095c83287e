import { highestTtl } from "../../core/records/rrset.ts";
import { types } from "./codes.ts";
import type { ResourceRecord } from "./message.ts";

/** RFC 2181 section 8: a TTL with its highest bit set counts as none. */
export const ttlOf = ({ ttl }: ResourceRecord): number => (ttl > highestTtl ? 0 : ttl);

/** Two names, then five numbers of which the serial is the first. Undefined for what is no SOA record. */
export function soaSerialOf({ type, data }: ResourceRecord): number | undefined {
  if (type !== types.soa || data.length < 22) return undefined;
  return Buffer.from(data.subarray(-20)).readUInt32BE(0);
}
