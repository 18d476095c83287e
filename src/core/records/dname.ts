import { fitsInName, type Label } from "../names/label.ts";
import { labelsOf } from "../names/name.ts";
import { nameFromWire } from "../names/wire.ts";
import type { RecordType } from "../rdata/table.ts";

/** Moves all names below its owner to below another one (RFC 6672). It comes from other servers, or as bytes. */
export const dname: RecordType = "TYPE39";

/** Undefined for bytes that are no name. */
export function targetOfDname(data: Uint8Array | undefined): readonly Label[] | undefined {
  const read = data && nameFromWire(data);
  return read && read.end === data.length ? labelsOf(read.name) : undefined;
}

/** The name that the labels in front of the owner have below the target; undefined when no name is that long. */
export function redirected(below: readonly Label[], target: readonly Label[]): readonly Label[] | undefined {
  const name = [...below, ...target];
  return fitsInName(name) ? name : undefined;
}
