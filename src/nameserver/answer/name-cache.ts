import { createLruCache, type LruCache } from "./lru-cache.ts";

/** `name`: in wire format and in lower case. */
type Entry<T> = { readonly name: Uint8Array; readonly kind: number; readonly value: T };

/**
 * Values by a name and a number. They are found by the bytes of a query, in any case, without a copy of them. Entries
 * with the same hash replace each other.
 */
export class NameCache<T> {
  readonly #entries: LruCache<Entry<T>, number>;
  readonly #seed: number;

  constructor(size: number, seed: number) {
    this.#entries = createLruCache(size);
    this.#seed = seed;
  }

  /** The name is in wire format, from `from` to `to`. */
  get(bytes: Uint8Array, from: number, to: number, kind = 0): T | undefined {
    const entry = this.#entries.get(hashOf(bytes, from, to, this.#seed + kind));
    return entry !== undefined && entry.kind === kind && isSame(entry.name, bytes, from, to) ? entry.value : undefined;
  }

  /** The name has one character per byte. */
  set(name: string, value: T, kind = 0): void {
    const bytes = Buffer.from(name, "latin1");
    this.#entries.set(hashOf(bytes, 0, bytes.length, this.#seed + kind), { name: bytes, kind, value });
  }
}

/** FNV-1a. Bit 5 counts as set in every byte, so that upper case is like lower case. */
function hashOf(bytes: Uint8Array, from: number, to: number, seed: number): number {
  let hash = Math.imul(seed, 0x9e3779b1);
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ ((bytes[i] ?? 0) | 0x20), 0x01000193);
  return hash;
}

function isSame(name: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  if (name.length !== to - from) return false;
  for (let i = 0; i < name.length; i++) if (name[i] !== lowerCase(bytes[from + i] ?? 0)) return false;
  return true;
}

/** Only ASCII letters have a case (RFC 4343). Lengths of labels are not letters: they are at most 63. */
export const lowerCase = (byte: number): number => (byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte);
