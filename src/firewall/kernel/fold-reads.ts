export type FoldedReads<T> = {
  /**
   * Many askers, few reads: whoever asks while a fresh enough read is under way or done gets that one. The answer was begun
   * at most `maxAge` ms before it was asked for, and no two of these reads run at once, also when reading is slow. A failure
   * is shared by those who waited for it and then forgotten.
   */
  readonly recent: () => Promise<T>;
  /** Begun now, whatever else goes on; whoever asks later for a recent one gets this or a later one. */
  readonly startNew: () => Promise<T>;
};

export function foldReads<T>(read: () => Promise<T>, maxAge: number, now: () => number): FoldedReads<T> {
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

  const recent = () => {
    if (latest === undefined || latest.state === "failed") return start();
    if (now() - latest.startedAt < maxAge) return latest.value;
    if (latest.state === "read") return start();
    next ??= startAfter(latest.value);
    return next;
  };
  return { recent, startNew: start };
}
