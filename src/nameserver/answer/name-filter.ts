/**
 * The hashes of names: says that a name is certainly not among them, or that it may be. A flood of random names is rejected
 * without asking the source. A hash takes four bytes, and at least half of the table is free: eight megabytes for a million names.
 */
export type NameFilter = {
  readonly add: (name: string) => void;
  /** Looks only at the first `end` characters, if given. */
  readonly mayHold: (name: string, end?: number) => boolean;
};

const smallest = 1_024;

export function createNameFilter(seed: number): NameFilter {
  let slots = new Uint32Array(smallest);
  let count = 0;

  const place = (hash: number): number => {
    const mask = slots.length - 1;
    let at = hash & mask;
    while (slots[at] !== 0 && slots[at] !== hash) at = (at + 1) & mask;
    return at;
  };

  const grow = () => {
    const old = slots;
    slots = new Uint32Array(old.length * 2);
    for (const hash of old) if (hash !== 0) slots[place(hash)] = hash;
  };

  return {
    add: (name) => {
      const hash = hashOf(name, name.length, seed);
      const at = place(hash);
      if (slots[at] === hash) return;
      slots[at] = hash;
      count += 1;
      if (count * 2 > slots.length) grow();
    },
    mayHold: (name, end = name.length) => {
      const hash = hashOf(name, end, seed);
      return slots[place(hash)] === hash;
    },
  };
}

/** FNV-1a with its bits mixed once more, because the lowest bits choose the slot. Never zero, which marks an empty slot. */
export function hashOf(name: string, end: number, seed: number): number {
  let hash = (0x811c9dc5 ^ seed) | 0;
  for (let i = 0; i < end; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0 || 1;
}
