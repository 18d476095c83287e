import type { RecordType } from "../../core/rdata/table.ts";
import { quote } from "../../core/rdata/tokens.ts";

/** A value of the v1 API: what is given back for it, and what it says in the syntax of zone files. */
export type V1Value = { readonly value: string; readonly text: string };

/**
 * Values of the v1 API are zone-file text, except TXT: text that does not begin with a quote is taken as it stands, blanks,
 * semicolons and backslashes included. It is given back as sent, up to the 255 bytes of one string; longer text comes back
 * as quoted strings with one blank behind each.
 */
export function readV1Value(type: RecordType, value: string): V1Value {
  if (type !== "TXT" || value === "" || isZoneFileText.test(value)) return { value, text: value };
  const chunks = chunksOf(Buffer.from(value), 255).map(quoted);
  const text = chunks.join(" ");
  return { value: chunks.length === 1 ? value : `${text} `, text };
}

/** Quoted already; or with a line break, NUL or half a surrogate in it, which the rule for the type refuses. */
const isZoneFileText = /^\s*"|[\0\r\n\p{Surrogate}]/u;

function chunksOf(bytes: Buffer, size: number): readonly Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
}

/** Bytes outside printable ASCII are escaped, so that a character cut in two by the limit is not lost. */
const quoted = (bytes: Buffer): string => quote(bytes.toString("latin1"));
