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

/** Work that is interrupted only once per `count` of its steps. */
export function* inLongerSteps<T>(steps: Steps<T>, count: number): Steps<T> {
  for (let i = 1; ; i++) {
    const step = steps.next();
    if (step.done) return step.value;
    if (i % count === 0) yield;
  }
}

export const isSteps = <T extends object | undefined>(work: T | Steps<T>): work is Steps<T> =>
  work !== undefined && "next" in work;

/** Work that may or may not be interruptible, as steps. */
export function* inSteps<T extends object | undefined>(work: T | Steps<T>): Steps<T> {
  return isSteps(work) ? yield* work : work;
}

/** Continues with a value that may take steps. Short work takes none, and no generator. */
export const afterSteps = <T extends object | undefined, U extends object>(
  work: T | Steps<T>,
  use: (value: T) => U | Steps<U>,
): U | Steps<U> => (isSteps(work) ? continuing(work, use) : use(work));

function* continuing<T, U extends object>(work: Steps<T>, use: (value: T) => U | Steps<U>): Steps<U> {
  return yield* inSteps(use(yield* work));
}

/** Short work on each item, a hundred of them per step, which takes well below a millisecond. */
export function* eachInSteps<Item>(items: Iterable<Item>, work: (item: Item) => void): Steps<void> {
  let done = 0;
  for (const item of items) {
    work(item);
    done += 1;
    if (done % 100 === 0) yield;
  }
}

/** The result of `transform` for each item, one item per step. */
export function* mapInSteps<Item, T>(
  items: Iterable<Item>,
  transform: (item: Item, i: number) => T,
): Steps<readonly T[]> {
  const results: T[] = [];
  for (const item of items) {
    results.push(transform(item, results.length));
    yield;
  }
  return results;
}

/** The items as texts, `size` of them in each. */
export function* joinInParts(
  items: readonly string[],
  size: number,
  join: (some: readonly string[]) => string,
): Steps<readonly string[]> {
  const parts: string[] = [];
  for (let from = 0; from < items.length; from += size) {
    parts.push(join(items.slice(from, from + size)));
    yield;
  }
  return parts;
}

/** Items that are sorted or merged per step. */
const perSortStep = 500;

/** Like `toSorted`, which takes a tenth of a second for 100,000 texts. */
export function* sortInSteps<T>(items: readonly T[], compare: (a: T, b: T) => number): Steps<readonly T[]> {
  let runs: (readonly T[])[] = [];
  for (let from = 0; from < items.length; from += perSortStep) {
    runs.push(items.slice(from, from + perSortStep).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const merged: (readonly T[])[] = [];
    for (let i = 0; i < runs.length; i += 2) merged.push(yield* merge(runs[i] ?? [], runs[i + 1] ?? [], compare));
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge<T>(some: readonly T[], others: readonly T[], compare: (a: T, b: T) => number): Steps<readonly T[]> {
  const all: T[] = [];
  for (let [i, j] = [0, 0]; i < some.length || j < others.length; ) {
    const takesOther = i === some.length || (j < others.length && compare(others[j] as T, some[i] as T) < 0);
    all.push((takesOther ? others[j++] : some[i++]) as T);
    if (all.length % perSortStep === 0) yield;
  }
  return all;
}
