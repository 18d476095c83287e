import { parseRdata, rdataToWire } from "./rdata/rdata.ts";
import type { RecordType } from "./rdata/table.ts";
import type { RRset } from "./rrset.ts";

/** What a DNS message of 65,535 bytes has for one set, beside its head, the longest question and EDNS. */
const room = 65_535 - 12 - (255 + 4) - 11;
/** Of each record: its name, which points at the question's, type, class, TTL and length. */
const head = 12;
/** Bytes of data that need no reading. Names may be written as pointers: so much these have in any case. */
const known: Readonly<Partial<Record<RecordType, number>>> = { A: 4, AAAA: 16, NS: 2, CNAME: 2, PTR: 2, MX: 4 };

/** No DNS message could hold such a set: whoever asks for it would be told of a failure. */
export function isTooLarge({ type, records }: Pick<RRset, "type" | "records">): boolean {
  // Data is seldom longer than its text and an address: most sets need no further look.
  const most = records.reduce((sum, { rdata }) => sum + head + 16 + rdata.length, 0);
  return most > room && records.reduce((sum, { rdata }) => sum + head + sizeOf(type, rdata), 0) > room;
}

function sizeOf(type: RecordType, rdata: string): number {
  const bytes = known[type];
  if (bytes !== undefined) return bytes;
  // What is stored is absolute: no zone is needed to read it.
  const read = parseRdata(type, rdata, "invalid");
  return read.ok ? rdataToWire(read.value).length : 0;
}
