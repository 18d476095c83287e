/** A pause that can be cut short, even before it begins. */
export type Nap = {
  /** Sleeps until `left`, in milliseconds, is zero or less. Calls it at the beginning, when the time has passed, and on `review`. */
  sleep(left: () => number): Promise<void>;
  readonly wake: () => void;
  /** Call when the result of `left` may have changed. */
  review(): void;
  /** Ignores a `wake` since the last sleep. */
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

/** Milliseconds: Node fires a longer timer immediately. */
const longestTimer = 2 ** 31 - 1;

/** For a nap of a fixed length, starting now. */
export function remaining(ms: number): () => number {
  const end = performance.now() + ms;
  return () => end - performance.now();
}
