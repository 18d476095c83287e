/**
 * The hash of the first `length` bytes of a message and of a salt; with `rounds`, of that hash and the salt, as often.
 * The result is only valid until the next call. For something as short as a name, this takes half the time that
 * `node:crypto` takes, and `core` needs no Node modules.
 */
export function sha1(message: Uint8Array, length: number, salt: Uint8Array, rounds = 0): Uint8Array {
  hashAll(message, length, salt);
  if (rounds > 0) hashAgain(salt, rounds);
  return hashBytes();
}

function hashAll(first: Uint8Array, firstLength: number, second: Uint8Array): void {
  hash.set(start);
  const length = firstLength + second.length;
  for (let from = 0; ; from += blockSize) {
    const end = Math.min(length - from, blockSize);
    words.fill(0, 0, 16);
    for (let i = 0; i < end; i++) {
      const at = from + i;
      putByte(i, (at < firstLength ? first[at] : second[at - firstLength]) ?? 0);
    }
    if (end >= 0 && end < blockSize) putByte(end, 0x80);
    // The length comes last, in eight bytes.
    const isLast = end < blockSize - 8;
    if (isLast) words[15] = length * 8;
    addBlock();
    if (isLast) break;
  }
}

/** In each round only the hash differs: if everything fits in one block, the rest of it is made once. */
function hashAgain(salt: Uint8Array, rounds: number): void {
  if (hashLength + salt.length > blockSize - 9) {
    for (let left = rounds; left > 0; left--) hashAll(hashBytes(), hashLength, salt);
    return;
  }
  words.fill(0, 0, 16);
  for (let i = 0; i < salt.length; i++) putByte(hashLength + i, salt[i] ?? 0);
  putByte(hashLength + salt.length, 0x80);
  words[15] = (hashLength + salt.length) * 8;
  const block = words.slice(0, 16);
  for (let left = rounds; left > 0; left--) {
    block.set(hash);
    words.set(block);
    hash.set(start);
    addBlock();
  }
}

function hashBytes(): Uint8Array {
  for (let i = 0; i < hashLength; i++) bytes[i] = (hash[i >> 2] ?? 0) >> (24 - 8 * (i & 3));
  return bytes;
}

const start = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0);
const blockSize = 64;
const hashLength = 20;

/** Used by one call at a time; new ones would take longer than the hash. */
const hash = new Int32Array(5);
const words = new Int32Array(80);
const bytes = new Uint8Array(hashLength);

const wordAt = (i: number): number => words[i] ?? 0;

function putByte(at: number, byte: number): void {
  words[at >> 2] = wordAt(at >> 2) | (byte << (24 - 8 * (at & 3)));
}

/** FIPS 180-4 section 6.1.2. */
function addBlock(): void {
  for (let i = 16; i < 80; i++) words[i] = rotated(wordAt(i - 3) ^ wordAt(i - 8) ^ wordAt(i - 14) ^ wordAt(i - 16), 1);
  let a = hash[0] ?? 0;
  let b = hash[1] ?? 0;
  let c = hash[2] ?? 0;
  let d = hash[3] ?? 0;
  let e = hash[4] ?? 0;
  for (let i = 0; i < 80; i++) {
    const next = (rotated(a, 5) + ((mixed(i, b, c, d) + e) | 0) + wordAt(i)) | 0;
    e = d;
    d = c;
    c = rotated(b, 30);
    b = a;
    a = next;
  }
  hash[0] = (hash[0] ?? 0) + a;
  hash[1] = (hash[1] ?? 0) + b;
  hash[2] = (hash[2] ?? 0) + c;
  hash[3] = (hash[3] ?? 0) + d;
  hash[4] = (hash[4] ?? 0) + e;
}

function mixed(i: number, b: number, c: number, d: number): number {
  if (i < 20) return ((d ^ (b & (c ^ d))) + 0x5a827999) | 0;
  if (i < 40) return ((b ^ c ^ d) + 0x6ed9eba1) | 0;
  if (i < 60) return (((b & c) | (d & (b | c))) + 0x8f1bbcdc) | 0;
  return ((b ^ c ^ d) + 0xca62c1d6) | 0;
}

const rotated = (word: number, bits: number): number => (word << bits) | (word >>> (32 - bits));
