import { KeyedSemaphore } from "../../../lib/limits/semaphore.ts";
import { StoreBusy } from "../../../lib/limits/store-busy.ts";

/** In characters: some 25,000 records. */
const largeFile = 1024 * 1024;
/** Milliseconds. */
const longestWait = 120_000;

/**
 * The records of the largest file take some 700 MB until they are written, so large files are read one at a time. An
 * account has one place in the queue.
 */
export class LargeFiles {
  readonly #reading = new KeyedSemaphore(1);

  /** Call the returned function when the records are written or forgotten. */
  async hold(account: number, text: string): Promise<() => void> {
    if (text.length <= largeFile) return () => undefined;
    const waiting = new AbortController();
    const timer = setTimeout(() => waiting.abort(busy()), longestWait);
    const holder = { name: `account ${account}`, most: 1 };
    return await this.#reading.acquire([holder], waiting.signal).finally(() => clearTimeout(timer));
  }
}

const busy = () => new StoreBusy("other large zone files are being imported", { retryAfter: 30 });
