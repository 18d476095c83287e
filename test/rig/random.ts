/** Integers from 0 up to but not including `below`, the same for the same seed. */
export type Random = (below: number) => number;

/** mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

export const pick = <T>(random: Random, from: readonly T[]): T => {
  const picked = from[random(from.length)];
  if (picked === undefined) throw new Error("nothing to pick from");
  return picked;
};
