/** Work that its caller can interrupt after every step; it returns its value at the end. */
export type Steps<T> = Generator<void, T>;

/** Runs all steps without a pause, for work that is known to be short. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Like `finish`, but gives up after this many steps, or when it is late, and returns undefined. */
export function finishWithin<T>(steps: Steps<T>, most: number, isLate: (taken: number) => boolean): T | undefined {
  for (let taken = 0; taken < most && !isLate(taken); taken++) {
    const step = steps.next();
    if (step.done) return step.value;
  }
  steps.return(undefined as T);
  return undefined;
}

/** The same work, interrupted only once per `count` steps. */
export function* inLongerSteps<T>(steps: Steps<T>, count: number): Steps<T> {
  for (let i = 1; ; i++) {
    const step = steps.next();
    if (step.done) return step.value;
    if (i % count === 0) yield;
  }
}

/** Work that may or may not be interruptible, as steps. */
export function* inSteps<T extends object | undefined>(work: T | Steps<T>): Steps<T> {
  return work !== undefined && "next" in work ? yield* work : work;
}

/** The result of `turn` for each item, one item per step. */
export function* mapInSteps<Item, T>(items: Iterable<Item>, turn: (item: Item, i: number) => T): Steps<readonly T[]> {
  const results: T[] = [];
  for (const item of items) {
    results.push(turn(item, results.length));
    yield;
  }
  return results;
}
