/**
 * How long a test may take, in milliseconds: 20 s, or `MOOR_TEST_LIMIT` in seconds. CI raises it, because its
 * machines pause now and then.
 */
export const testLimit = Number(process.env.MOOR_TEST_LIMIT || (process.env.CI ? 300 : 20)) * 1_000;

/** How long a test waits for one thing: less than the limit of the test, so that the failure says what was missing. */
export const patience = 0.75 * testLimit;
