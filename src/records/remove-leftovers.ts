import { setTimeout as sleep } from "node:timers/promises";
import type { Instant } from "../core/instant.ts";
import { type EndWork, runPeriodically } from "../process/duties.ts";
import type { Logger } from "../process/log.ts";
import type { RecordStore } from "./store/port.ts";

type LeftoversOptions = {
  readonly store: Pick<RecordStore, "removeLeftovers">;
  readonly now: () => Instant;
  readonly log: Logger;
};

/** Milliseconds between two rounds. */
const every = 10_000;

/** Deletes the rows of deleted zones and old signed names, a few at a time. Only the leading node does this. */
export const removeLeftovers = ({ store, now, log }: LeftoversOptions): EndWork =>
  runPeriodically(
    async (signal) => {
      for (let isMore = true; isMore && !signal.aborted; ) {
        const begun = performance.now();
        isMore = await store.removeLeftovers(now());
        // It takes at most half of the time, so that other work goes on.
        await sleep(performance.now() - begun, undefined, { signal, ref: false }).catch(() => undefined);
      }
    },
    every,
    (error) => log.error({ err: error }, "rows that are no longer needed could not be deleted; trying again"),
  );
