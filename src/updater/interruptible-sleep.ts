/** Milliseconds: Node fires a longer timer immediately. */
const longestTimer = 2 ** 31 - 1;

/** A sleep that can be cut short, even before it begins. */
export class InterruptibleSleep {
  #isWoken = false;
  #endPause: () => void = () => undefined;

  /**
   * Sleeps until `left`, in milliseconds, is zero or less. Calls it at the beginning, when the time has passed, and on
   * `review`.
   */
  async sleep(left: () => number): Promise<void> {
    for (let ms = left(); ms > 0 && !this.#isWoken; ms = left()) await this.#pause(ms);
    this.#isWoken = false;
  }

  wake(): void {
    this.#isWoken = true;
    this.#endPause();
  }

  /** Call when the result of `left` may have changed. */
  review(): void {
    this.#endPause();
  }

  /** Ignores a `wake` since the last sleep. */
  forget(): void {
    this.#isWoken = false;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.min(ms, longestTimer));
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** For a sleep of a fixed length, starting now. */
export function remaining(ms: number): () => number {
  const end = performance.now() + ms;
  return () => end - performance.now();
}
