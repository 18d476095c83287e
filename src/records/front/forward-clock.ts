import type { Instant } from "../../core/instant.ts";

/** For what waits until a time: if the clock is set back, nothing waits for longer. */
export function forwardClock(now: () => Instant): () => Instant {
  let last = now();
  let offset = 0;
  return () => {
    const time = now();
    offset = Math.max(offset, last - time);
    last = time + offset;
    return last;
  };
}
