import { createCipheriv, createHmac } from "node:crypto";

/** Disguises global numbers (positions in the change log, action ids) for one actor. */
export type ObfuscatedIds = {
  readonly show: (number: number) => number;
  /** The inverse; a number that was never shown becomes some other number. */
  readonly read: (shown: number) => number;
};

export const plainIds: ObfuscatedIds = { show: (number) => number, read: (shown) => shown };

/**
 * A permutation of the numbers below 2^48 that is unpredictable without the secret: the gap between two numbers does
 * not reveal how much others did in between. A Feistel network, so it can be inverted; each holder has a different one.
 * Its rounds encrypt one block each, which takes a fifth of the time of an HMAC.
 */
export function obfuscateIds(secret: string, holder: string): ObfuscatedIds {
  const key = createHmac("sha256", secret).update(holder).digest().subarray(0, 16);
  // Blocks are independent of each other, so one cipher encrypts all of them.
  const cipher = createCipheriv("aes-128-ecb", key, null).setAutoPadding(false);
  const block = Buffer.alloc(16);
  const mixed = (round: number, half: number): number => {
    block.writeUInt8(round, 0);
    block.writeUIntBE(half, 1, 3);
    return cipher.update(block).readUIntBE(0, 3);
  };
  const through = (rounds: readonly number[], number: number): number => {
    if (number < 0 || number >= size) return number;
    let [left, right] = [Math.floor(number / half), number % half];
    for (const round of rounds) [left, right] = [right, left ^ mixed(round, right)];
    // With the halves swapped, the same rounds in reverse order are the inverse.
    return right * half + left;
  };
  return { show: (number) => through(rounds, number), read: (shown) => through(backwards, shown) };
}

const half = 2 ** 24;
const size = half * half;
const rounds = [1, 2, 3, 4, 5, 6];
const backwards = rounds.toReversed();
