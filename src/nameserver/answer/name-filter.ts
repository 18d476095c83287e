import { lowerCase } from "./name-cache.ts";

const smallest = 1_024;

/**
 * The hashes of names: says that a name is certainly not among them, or that it may be. A flood of random names is
 * rejected without asking the source. A hash takes four bytes, and at least half of the table is free: eight megabytes
 * for a million names.
 */
export function createNameFilter(seed: number) {
  let slots = new Uint32Array(smallest);
  let count = 0;

  const place = (hash: number): number => {
    const mask = slots.length - 1;
    let at = hash & mask;
    while (slots[at] !== 0 && slots[at] !== hash) at = (at + 1) & mask;
    return at;
  };

  const ends = new Int32Array(longestName);
  const mayHoldEnd = (start: number): boolean => {
    const hash = mixed(ends[start] ?? 0);
    return slots[place(hash)] === hash;
  };

  const grow = () => {
    const old = slots;
    slots = new Uint32Array(old.length * 2);
    for (const hash of old) if (hash !== 0) slots[place(hash)] = hash;
  };

  return {
    add: (name: string): void => {
      const hash = hashOf(name, seed);
      const at = place(hash);
      if (slots[at] === hash) return;
      slots[at] = hash;
      count += 1;
      if (count * 2 > slots.length) grow();
    },
    mayHold: (name: string): boolean => {
      const hash = hashOf(name, seed);
      return slots[place(hash)] === hash;
    },
    /** The same for a name in bytes, in any case. */
    mayHoldBytes: (bytes: Uint8Array, from: number, to: number): boolean => {
      let state = firstState(seed);
      for (let i = to - 1; i >= from; i--) state = nextState(state, lowerCase(bytes[i] ?? 0));
      const hash = mixed(state);
      return slots[place(hash)] === hash;
    },
    /** The same for every end of a name, by where it begins, in one pass over the name. Valid until the next call. */
    mayHoldEnds: (name: string): ((start: number) => boolean) => {
      let hash = firstState(seed);
      for (let i = name.length - 1; i >= 0; i--) {
        hash = nextState(hash, name.charCodeAt(i));
        ends[i] = hash;
      }
      return mayHoldEnd;
    },
  };
}

/** Bytes of a name on the wire. */
const longestName = 255;

/** FNV-1a from the end to the start, so that the hash of a name continues that of its parent. */
function hashOf(name: string, seed: number): number {
  let hash = firstState(seed);
  for (let i = name.length - 1; i >= 0; i--) hash = nextState(hash, name.charCodeAt(i));
  return mixed(hash);
}

const firstState = (seed: number): number => (0x811c9dc5 ^ seed) | 0;
const nextState = (hash: number, byte: number): number => Math.imul(hash ^ byte, 0x01000193);

/** The lowest bits choose the slot, so the others are mixed into them. Never zero, which marks an empty slot. */
function mixed(state: number): number {
  const hash = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0 || 1;
}
