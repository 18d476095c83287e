/** Work that its caller can interrupt after every step; it returns its value at the end. */
export type Steps<T> = Generator<void, T>;

/** Runs all steps without a pause, for work that is known to be short. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The result of `turn` for each item, one item per step. */
export function* mapInSteps<Item, T>(items: readonly Item[], turn: (item: Item) => T): Steps<readonly T[]> {
  const results: T[] = [];
  for (const item of items) {
    results.push(turn(item));
    yield;
  }
  return results;
}
