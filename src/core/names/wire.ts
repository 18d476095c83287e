import { fitsInName, type Label, lowerByte, printLabels } from "./label.ts";
import { labelsOf } from "./name.ts";

/** `end`: the position after the name. */
export type NameOnWire = { readonly name: string; readonly end: number };

/** RFC 1035 section 3.1: a length byte and that many bytes per label, then the root's zero. Not compressed. */
export function nameToWire(name: string): Uint8Array<ArrayBuffer> {
  const labels = labelsOf(name);
  const bytes = new Uint8Array(labels.reduce((sum, label) => sum + 1 + label.length, 1));
  let at = 0;
  for (const label of labels) {
    bytes[at++] = label.length;
    for (let i = 0; i < label.length; i++) bytes[at++] = label.charCodeAt(i);
  }
  return bytes;
}

export function writeName(name: string, out: number[]): void {
  for (const label of labelsOf(name)) {
    out.push(label.length);
    for (let i = 0; i < label.length; i++) out.push(label.charCodeAt(i));
  }
  out.push(0);
}

/** Canonical, so in lower case. Undefined for a name that is truncated, too long or compressed. */
export function nameFromWire(bytes: Uint8Array, start = 0): NameOnWire | undefined {
  const labels: Label[] = [];
  let at = start;
  while (at < bytes.length) {
    const length = bytes[at] ?? 0;
    at += 1;
    if (length === 0) return { name: printLabels(labels), end: at };
    if (length > 63 || at + length > bytes.length) return undefined;
    let label = "";
    for (const byte of bytes.subarray(at, at + length)) label += lowerByte(byte);
    labels.push(label);
    if (!fitsInName(labels)) return undefined;
    at += length;
  }
  return undefined;
}
