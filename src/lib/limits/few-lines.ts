import type { Instant } from "../../core/instant.ts";

/** A client that repeats itself must not fill the disk. */
const mostLines = 60;
const minute = 60_000;

/** Runs `write` at most 60 times per minute; after more calls, the next minute starts with `reportSkipped`. */
export function createFewLines(
  now: () => Instant,
  reportSkipped: (count: number) => void,
): (write: () => void) => void {
  let since = Number.NEGATIVE_INFINITY;
  let count = 0;
  return (write) => {
    // A clock that was set back starts a new minute too.
    if (Math.abs(now() - since) >= minute) {
      if (count > mostLines) reportSkipped(count - mostLines);
      since = now();
      count = 0;
    }
    count += 1;
    if (count <= mostLines) write();
  };
}
