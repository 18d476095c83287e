import type { Instant } from "../../core/instant.ts";

/**
 * Rows under a number that no zone refers to. `ahead`: presigned names, which their zone does not use yet.
 * `names`: signed names that no zone uses any more. `zone`: the sets and signed names of a deleted zone.
 */
export type LeftOver = "ahead" | "names" | "zone";

export type Leftovers = {
  /**
   * Deletes some rows that no zone refers to. Returns whether there may be more. Presigned names count as
   * abandoned if nothing was added for long.
   */
  readonly removeLeftovers: (now: Instant) => Promise<boolean>;
};

/** Milliseconds without a step after which presigning counts as ended: its process was killed. */
export const abandonedAfter = 10 * 60_000;

export const presignedGone = "the signatures made for this write were removed meanwhile; try again";
