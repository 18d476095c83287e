import type { Label } from "../names/label.ts";
import { sha1 } from "./sha1.ts";

/**
 * How a chain of NSEC3 records hashes names. The data of NSEC3 and NSEC3PARAM records begins with it: algorithm, flags,
 * iterations, and the salt after its length (RFC 5155 sections 3.2 and 4.2).
 */
export type HashParameters = Uint8Array;

/** Undefined for data that is too short, and for other algorithms than SHA-1, the only one there is. */
export function hashParameters(data: Uint8Array | undefined): HashParameters | undefined {
  const isValid = data !== undefined && data[0] === 1 && data.length >= saltAt + saltLength(data);
  return isValid ? data : undefined;
}

const iterationsOf = (parameters: HashParameters): number => ((parameters[2] ?? 0) << 8) | (parameters[3] ?? 0);

/** The blocks that SHA-1 processes to hash a name of this many bytes. */
export function blocksFor(parameters: HashParameters, nameLength: number): number {
  const salt = saltLength(parameters);
  return blocksOf(nameLength + salt) + iterationsOf(parameters) * blocksOf(hashLength + salt);
}

/** The message, a bit, and its length in eight bytes (FIPS 180-4 section 5.1.1). */
const blocksOf = (length: number): number => Math.ceil((length + 9) / 64);
const hashLength = 20;

/**
 * Whether names are hashed with these parameters: those of 50 iterations and a salt of 35 bytes, or of fewer iterations
 * and a longer salt. RFC 9276 section 3.1 allows no iterations, and section 3.2 lets resolvers treat more as insecure;
 * BIND 9.20, Knot Resolver 5.7.1 and PowerDNS Recursor 5.0 do so from 51 on.
 */
export const isAffordable = (parameters: HashParameters): boolean =>
  iterationsOf(parameters) * blocksOf(hashLength + saltLength(parameters)) <= mostIterations;

const mostIterations = 50;

/**
 * Whether an NSEC3 record is part of the chain with these parameters. `data`: one character per byte, from `start` on.
 */
export function hasParameters(data: string, start: number, parameters: HashParameters): boolean {
  const end = saltAt + saltLength(parameters);
  for (let i = 0; i < end; i++) if (i !== flagsAt && data.charCodeAt(start + i) !== parameters[i]) return false;
  return true;
}

/** RFC 5155 section 5: the hash of a name in wire format, one character per byte. */
export const hashOf = (name: string, parameters: HashParameters): Uint8Array =>
  hashOfBytes(bytesOf(name), name.length, parameters).slice();

/** The same for the first `length` bytes. Only valid until the next call. */
export function hashOfBytes(name: Uint8Array, length: number, parameters: HashParameters): Uint8Array {
  const end = saltAt + saltLength(parameters);
  return sha1(name, length, end === saltAt ? noSalt : parameters.subarray(saltAt, end), iterationsOf(parameters));
}

/** moor's own zones have none, and making an empty part takes as long as a fifth of the hash. */
const noSalt = new Uint8Array();

/**
 * A hash that remembers its last results, for the names of one zone: in a flood of random names, most proofs need the
 * same closest encloser and wildcard. The caller must not change the result.
 */
export function rememberedHash(
  remembered: Map<string, Uint8Array>,
  name: string,
  parameters: HashParameters,
): Uint8Array {
  const key = name + textOf(parameters, flagsAt + 1, saltAt + saltLength(parameters));
  const cachedHash = remembered.get(key);
  if (cachedHash !== undefined) return cachedHash;
  if (remembered.size >= mostRemembered) remembered.clear();
  const hash = hashOf(name, parameters);
  remembered.set(key, hash);
  return hash;
}

/** With a name of 255 bytes, an entry takes half a kilobyte. */
const mostRemembered = 64;

const flagsAt = 1;
const saltAt = 5;
const saltLength = (data: Uint8Array): number => data[saltAt - 1] ?? 0;

/** Spreading so few bytes would take ten times as long. */
function textOf(bytes: Uint8Array, start: number, end: number): string {
  let text = "";
  for (let i = start; i < end; i++) text += String.fromCharCode(bytes[i] ?? 0);
  return text;
}

export function wireName(labels: readonly Label[]): string {
  let name = "";
  for (const label of labels) name += String.fromCharCode(label.length) + label;
  return `${name}\0`;
}

/** Of a text with one character per byte. */
export function bytesOf(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
