import type { Instant } from "../instant.ts";
import type { Stage } from "./lifecycle.ts";
import { keyTtl, transferMargin } from "./timing.ts";

/** What the stage waits for, in seconds; a stage that is not listed waits for the parent, or for nothing. */
const waits: Readonly<Partial<Record<Stage, "keys" | "zone">>> = {
  new: "zone",
  "roll-show": "keys",
  "roll-sign": "zone",
  "algorithm-sign": "zone",
  "algorithm-show": "keys",
  "algorithm-hide": "keys",
};

/**
 * When a stage that waits only for caches ends, by the rules of `nextStage`. Undefined if nobody can know, because the
 * parent must act first. Separate from those rules because the console shows it.
 */
export function stageEnd(stage: string, since: Instant, highestTtl: number): Instant | undefined {
  const wait = waits[stage as Stage];
  return wait && since + (wait === "keys" ? keyTtl : highestTtl) * 1000 + transferMargin;
}
