import { isLongRun } from "./long-run.ts";

/**
 * How long a test may take, in milliseconds, on every machine. It ends a hang and judges nothing: a busy machine needs
 * many times what a quiet one does. In a long run a single test goes through all rows and seeds.
 */
export const testLimit = (isLongRun ? 15 : 5) * 60_000;

/** How long a test waits for one thing: less than the limit of the test, so that the failure says what was missing. */
export const patience = 0.75 * testLimit;
