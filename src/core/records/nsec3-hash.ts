import type { Label } from "../names/label.ts";

/** SHA-1 of some bytes. It is passed in, because `core` runs without Node's modules. */
export type Sha1 = (data: Uint8Array) => Uint8Array;

/** How a chain of NSEC3 records hashes names: the beginning of the data of NSEC3 and NSEC3PARAM (RFC 5155 sections 3.2 and 4.2). */
export type HashParameters = { readonly iterations: number; readonly salt: Uint8Array };

/** Undefined for data that is too short, and for other algorithms than SHA-1, the only one there is. */
export function hashParameters(data: Uint8Array | undefined): HashParameters | undefined {
  const length = data?.[4];
  if (data === undefined || length === undefined || data[0] !== 1 || data.length < 5 + length) return undefined;
  return { iterations: ((data[2] ?? 0) << 8) | (data[3] ?? 0), salt: data.subarray(5, 5 + length) };
}

export const sameParameters = (a: HashParameters, b: HashParameters): boolean =>
  a.iterations === b.iterations && a.salt.length === b.salt.length && a.salt.every((byte, i) => byte === b.salt[i]);

/** RFC 5155 section 5: the label of the NSEC3 record of a name. */
export function hashedLabel(name: readonly Label[], { iterations, salt }: HashParameters, sha1: Sha1): Label {
  let hash = sha1(joined(wireName(name), salt));
  for (let left = iterations; left > 0; left--) hash = sha1(joined(hash, salt));
  return base32hex(hash);
}

function wireName(labels: readonly Label[]): Uint8Array {
  const bytes = new Uint8Array(labels.reduce((sum, label) => sum + label.length + 1, 1));
  let at = 0;
  for (const label of labels) {
    bytes[at++] = label.length;
    for (let i = 0; i < label.length; i++) bytes[at++] = label.charCodeAt(i);
  }
  return bytes;
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (b.length === 0) return a;
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

const digits = "0123456789abcdefghijklmnopqrstuv";

/** RFC 4648 section 7, without padding, in lower case. Its order is that of the bytes. */
export function base32hex(bytes: Uint8Array): Label {
  let text = "";
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    for (bits += 8; bits >= 5; bits -= 5) text += digits[(held >> (bits - 5)) & 31];
  }
  return bits > 0 ? text + digits[(held << (5 - bits)) & 31] : text;
}
