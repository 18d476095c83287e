/**
 * What tests draw by chance. It is the same in every run, so that a change is judged by what it changes and not by luck; the long
 * runs draw anew, and say what they drew. `MOOR_SEED=7 npm test` draws otherwise too.
 */
export const seed = Number(process.env.MOOR_SEED || 1);
