export type CoalescedReads<T> = {
  /**
   * Many callers share few reads: a caller gets the read that is running or finished, if it began at most `maxAge` ms
   * before the call. Two of these reads never run at the same time, even if reading is slow. A failure goes to the
   * callers who waited for it, and is then forgotten.
   */
  readonly readRecent: () => Promise<T>;
  /** Starts a read now, in any case; later callers of `readRecent` get this one or a newer one. */
  readonly readNow: () => Promise<T>;
};

export function coalesceReads<T>(read: () => Promise<T>, maxAge: number, now: () => number): CoalescedReads<T> {
  let latest:
    | { readonly startedAt: number; readonly value: Promise<T>; state: "running" | "read" | "failed" }
    | undefined;
  let next: Promise<T> | undefined;

  const start = (): Promise<T> => {
    const started = { startedAt: now(), value: read(), state: "running" as "running" | "read" | "failed" };
    latest = started;
    started.value.then(
      () => {
        started.state = "read";
      },
      () => {
        started.state = "failed";
      },
    );
    return started.value;
  };

  const startAfter = async (running: Promise<T>): Promise<T> => {
    await running.catch(() => undefined);
    next = undefined;
    return start();
  };

  const readRecent = () => {
    if (latest === undefined || latest.state === "failed") return start();
    if (now() - latest.startedAt < maxAge) return latest.value;
    if (latest.state === "read") return start();
    next ??= startAfter(latest.value);
    return next;
  };
  return { readRecent, readNow: start };
}
