import { createHistogram, type Histogram } from "../../process/metrics.ts";

/** What a store has done since it was opened. Plain numbers: they are counted up in passing, and read when somebody asks. */
export type StoreCounters = {
  /** Writes that are answered: done, or found to change nothing. */
  writes: number;
  /** Writes that ended in an error of the database. */
  failed: number;
  /** Transactions; one may hold many writes. */
  commits: number;
  /** Writes that wait for their transaction or for the disk, now. */
  waiting: number;
  /** From the begin of a transaction until it is on disk. */
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
