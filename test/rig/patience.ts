/**
 * How long a test may take, in milliseconds: 20 s, or `MOOR_TEST_LIMIT` in seconds. CI raises it, because its machines take the
 * processors away for a while now and then.
 */
export const testLimit = Number(process.env.MOOR_TEST_LIMIT || (process.env.CI ? 300 : 20)) * 1_000;

/** How long a test waits for one thing: less than the test may take, so that its failure says what did not come. */
export const patience = 0.75 * testLimit;
