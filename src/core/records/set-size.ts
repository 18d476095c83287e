import { printLabels } from "../names/label.ts";
import { labelsOf } from "../names/name.ts";
import { parseRdata, rdataToWire } from "../rdata/rdata.ts";
import type { RecordType } from "../rdata/table.ts";

/** The room for one set in a DNS message of 65,535 bytes, after the header, the longest question and an OPT record. */
const room = 65_535 - 12 - (255 + 4) - 11;
/** Per record: its name (a pointer to the question), type, class, TTL and length. */
const head = 12;
/** Types whose data has a fixed size. */
const sizes: Readonly<Partial<Record<RecordType, number>>> = { A: 4, AAAA: 16 };
/** Types whose data is a name after this many bytes. Name compression writes the common end of such names only once. */
const beforeName: Readonly<Partial<Record<RecordType, number>>> = { NS: 0, CNAME: 0, PTR: 0, MX: 2 };
const pointer = 2;

type SetData = { readonly type: RecordType; readonly records: readonly { readonly rdata: string }[] };

/** No DNS message could hold such a set: every query for it would fail. */
export function isTooLarge({ type, records }: SetData): boolean {
  if (records.length * head > room) return true;
  // Data is rarely longer than its text plus 16 bytes, so most sets need no exact count.
  const most = records.reduce((sum, { rdata }) => sum + head + 16 + rdata.length, 0);
  if (most <= room) return false;
  const ends = new Set<string>();
  return records.reduce((sum, { rdata }) => sum + head + sizeOf(type, rdata, ends), 0) > room;
}

/** `ends`: the ends of names that were already counted. */
function sizeOf(type: RecordType, rdata: string, ends: Set<string>): number {
  const bytes = sizes[type];
  if (bytes !== undefined) return bytes;
  const before = beforeName[type];
  if (before !== undefined) return before + sizeOfName(rdata.slice(rdata.lastIndexOf(" ") + 1, -1), ends);
  // Stored names are absolute, so the zone name does not matter.
  const read = parseRdata(type, rdata, "invalid");
  return read.ok ? rdataToWire(read.value).length : 0;
}

function sizeOfName(name: string, ends: Set<string>): number {
  const labels = labelsOf(name);
  let size = pointer;
  for (const [i, label] of labels.entries()) {
    const end = printLabels(labels.slice(i));
    if (ends.has(end)) break;
    ends.add(end);
    size += 1 + label.length;
  }
  return size;
}
