import { StoreBusy } from "../../../lib/limits/store-busy.ts";

export type KeyedItem<T> = {
  readonly item: T;
  /** When it has waited too long, by `performance.now()`. */
  readonly end: number;
  /** What it waits for. */
  readonly because: string;
  readonly fail: (error: Error) => void;
};

export type KeyedQueuesOptions<T> = {
  /** Tries to get the lock, for a short time. Returns the items that did not get it. */
  readonly run: (items: readonly T[]) => Promise<readonly T[]>;
  readonly mostTogether: number;
  /** In all queues; half of that in one. */
  readonly mostWaiting: number;
};

/** Each occupies a connection while it waits; the rest are for others. */
const mostRunning = 3;

/**
 * Writes that wait for a lock, in one queue per lock. Only a few queues try at a time, each for a moment and then the
 * next one: so however many locks others hold, the rest of the service goes on, and so does a queue whose lock is
 * released.
 */
export class KeyedQueues<T> {
  readonly #options: KeyedQueuesOptions<T>;
  /** In the order of their turns. */
  readonly #queues = new Map<string, readonly KeyedItem<T>[]>();
  readonly #running = new Map<string, Promise<void>>();

  constructor(options: KeyedQueuesOptions<T>) {
    this.#options = options;
  }

  /** Items that are not settled. */
  get size(): number {
    return [...this.#queues.values()].reduce((sum, { length }) => sum + length, 0);
  }

  running(): readonly Promise<void>[] {
    return [...this.#running.values()];
  }

  add(key: string, item: KeyedItem<T>): void {
    const queue = this.#queues.get(key) ?? [];
    const { mostWaiting } = this.#options;
    if (queue.length >= mostWaiting / 2 || this.size >= mostWaiting) {
      item.fail(new StoreBusy(`${item.because}; too many writes are waiting for it`));
      return;
    }
    this.#queues.set(key, [...queue, item]);
    this.#pump();
  }

  #pump(): void {
    for (const [key, items] of this.#queues) {
      if (this.#running.size >= mostRunning) return;
      if (this.#running.has(key)) continue;
      const ended = this.#run(key, items.slice(0, this.#options.mostTogether)).finally(() => {
        this.#running.delete(key);
        this.#pump();
      });
      this.#running.set(key, ended);
    }
  }

  async #run(key: string, items: readonly KeyedItem<T>[]): Promise<void> {
    const left = new Set(await this.#options.run(items.map(({ item }) => item)));
    const now = performance.now();
    const late = items.filter(({ item, end }) => left.has(item) && end <= now);
    const settled = new Set(items.filter(({ item, end }) => !left.has(item) || end <= now));
    const more = this.#queues.get(key)?.filter((item) => !settled.has(item)) ?? [];
    // Other queues are next.
    this.#queues.delete(key);
    if (more.length > 0) this.#queues.set(key, more);
    for (const { because, fail } of late) fail(new StoreBusy(`${because}; nothing was written`));
  }
}
