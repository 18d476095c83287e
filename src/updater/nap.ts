/** A pause that can be cut short, also before it begins. */
export type Nap = {
  /** Until `left`, in milliseconds, is zero or less. It is asked when the nap begins, when it has passed, and by `review`. */
  sleep(left: () => number): Promise<void>;
  readonly wake: () => void;
  /** How long it takes may have changed. */
  review(): void;
  /** A `wake` since the last sleep does not count. */
  forget(): void;
};

export function createNap(): Nap {
  let isWoken = false;
  let endPause: () => void = () => undefined;
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.min(ms, longestTimer));
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  return {
    async sleep(left) {
      for (let ms = left(); ms > 0 && !isWoken; ms = left()) await pause(ms);
      isWoken = false;
    },
    wake() {
      isWoken = true;
      endPause();
    },
    review: () => endPause(),
    forget() {
      isWoken = false;
    },
  };
}

/** Milliseconds: a longer timer of Node's fires immediately. */
const longestTimer = 2 ** 31 - 1;

/** For a nap of a fixed length, from now on. */
export function remaining(ms: number): () => number {
  const end = performance.now() + ms;
  return () => end - performance.now();
}
