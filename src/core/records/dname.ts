import { fitsInName, type Label } from "../names/label.ts";
import { labelsOf } from "../names/name.ts";
import { nameFromWire } from "../names/wire.ts";
import type { RecordType } from "../rdata/table.ts";

/** Redirects all names below its owner to another domain (RFC 6672). Its data is kept as bytes. */
export const dname: RecordType = "TYPE39";

/** Undefined for bytes that are not a name. */
export function targetOfDname(data: Uint8Array | undefined): readonly Label[] | undefined {
  const read = data && nameFromWire(data);
  return read && read.end === data.length ? labelsOf(read.name) : undefined;
}

/** The labels before the DNAME's owner, now before its target; undefined when the name would be too long. */
export function redirected(below: readonly Label[], target: readonly Label[]): readonly Label[] | undefined {
  const name = [...below, ...target];
  return fitsInName(name) ? name : undefined;
}
