import { createHistogram, type Histogram } from "../../process/metrics.ts";

/** What a store has done since it was opened. Plain mutable numbers, so that counting costs nothing. */
export type StoreCounters = {
  /**
   * Writes that are on disk, including those that changed nothing. With SQLite, a large write counts several times: for
   * the attempt as a small one, and for each of its transactions.
   */
  writes: number;
  /** Writes that ended with an error, of the database or of the write itself. */
  failed: number;
  /** Transactions; one may contain many writes. */
  commits: number;
  /** Writes that are currently waiting for their transaction or for the disk. */
  waiting: number;
  /** From the beginning of a transaction until it is on disk. */
  readonly commitSeconds: Histogram;
};

const bounds = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

export const createStoreCounters = (): StoreCounters => ({
  writes: 0,
  failed: 0,
  commits: 0,
  waiting: 0,
  commitSeconds: createHistogram(bounds),
});
