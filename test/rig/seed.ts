/**
 * The seed of random tests. It is the same in every ordinary run, so that results do not depend on luck. Long runs use
 * a new seed each time, and print it. `MOOR_SEED=7 npm test` sets another one.
 */
export const seed = Number(process.env.MOOR_SEED || 1);
