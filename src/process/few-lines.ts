import type { Instant } from "../core/instant.ts";

/** A client that repeats itself must not fill the disk. */
const mostLines = 60;
const minute = 60_000;

/** Runs what writes a line, at most 60 times a minute; when there were more, the next minute begins with `reportSkipped`. */
export function createFewLines(
  now: () => Instant,
  reportSkipped: (count: number) => void,
): (write: () => void) => void {
  let since = Number.NEGATIVE_INFINITY;
  let count = 0;
  return (write) => {
    // A clock that was put back begins a minute too.
    if (Math.abs(now() - since) >= minute) {
      if (count > mostLines) reportSkipped(count - mostLines);
      since = now();
      count = 0;
    }
    count += 1;
    if (count <= mostLines) write();
  };
}
