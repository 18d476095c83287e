import { parseRdata, type Rdata } from "./rdata.ts";
import type { RecordType } from "./table.ts";

/** A stored value. Values were checked when they were written, so an invalid one is a bug. */
export function readRdata(type: RecordType, text: string): Rdata {
  const read = parseRdata(type, text, "");
  if (!read.ok) throw new Error(`the value of a ${type} record cannot be read: ${text}`);
  return read.value;
}
