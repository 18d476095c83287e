import type { Instant } from "../../core/instant.ts";

/**
 * Rows under a number that no zone refers to. `ahead`: names signed aside, which their zone does not use yet.
 * `names`: signed names that no zone uses any more. `zone`: the sets and signed names of a deleted zone.
 */
export type LeftOver = "ahead" | "names" | "zone";

export type Leftovers = {
  /**
   * Deletes some rows that no zone refers to. Returns whether there may be more. Names that were signed aside count as
   * abandoned if nothing was added for long.
   */
  readonly removeLeftovers: (now: Instant) => Promise<boolean>;
};

/** Milliseconds without a step after which signing counts as ended: its process was killed. */
export const abandonedAfter = 10 * 60_000;

export const asideGone = "the signatures made for this zone were removed meanwhile; try again";
