/** Whose limit a permit counts against: a token, a session, an account, a network. */
export type Holder = { readonly name: string; readonly most: number };

export type Permit =
  | { readonly kind: "permit"; readonly release: () => void }
  /** `holder`: whose limit is reached; absent if it is the limit for all holders together. */
  | { readonly kind: "full"; readonly holder?: Holder };

type Begin = (release: () => void) => void;

/** Those that wait for the same holder, directly or for a further holder: an account, and its servers. */
type Queue = { readonly holder: Holder; readonly waiting: Set<Begin>; readonly inner: Queues };
/** The holder who has waited longest comes first. */
type Queues = Map<string, Queue>;

/**
 * A semaphore with a limit for all, and one for each holder; a permit may count for several holders. One holder cannot
 * use up the permits of all others. Whoever does not get a permit is refused (`tryAcquire`) or waits (`acquire`,
 * `enqueue`). Holders that wait take turns, and so do the further holders of each, in the order in which they are
 * named.
 */
export class KeyedSemaphore {
  readonly #most: number;
  readonly #held = new Map<string, number>();
  readonly #queues: Queues = new Map();
  #open = 0;
  #isStarting = false;

  constructor(most: number) {
    this.#most = most;
  }

  /** How many permits are in use. */
  get open(): number {
    return this.#open;
  }

  isFreeFor(holders: readonly Holder[]): boolean {
    return this.#refusal(holders) === undefined;
  }

  tryAcquire(holders: readonly Holder[]): Permit {
    return this.#refusal(holders) ?? { kind: "permit", release: this.#take(holders) };
  }

  /**
   * Waits for a permit, and returns the function that releases it. Rejects with the signal's reason if that is aborted.
   */
  async acquire(holders: readonly Holder[], signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const permit = this.tryAcquire(holders);
    if (permit.kind === "permit") return permit.release;
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const stop = this.enqueue(holders, resolve);
    const stopWaiting = () => {
      stop();
      reject(signal.reason as Error);
    };
    signal.addEventListener("abort", stopWaiting);
    return promise.finally(() => signal.removeEventListener("abort", stopWaiting));
  }

  /** Calls `begin` when there is a permit, which may be immediately. Returns a function that stops waiting. */
  enqueue(holders: readonly Holder[], begin: Begin): () => void {
    if (this.isFreeFor(holders)) {
      begin(this.#take(holders));
      return () => undefined;
    }
    const waiting = queueOf(this.#queues, holders).waiting;
    waiting.add(begin);
    return () => void waiting.delete(begin);
  }

  /** How many wait for a permit of this holder alone. */
  waitingFor({ name }: Holder): number {
    return this.#queues.get(name)?.waiting.size ?? 0;
  }

  #refusal(holders: readonly Holder[]): Extract<Permit, { kind: "full" }> | undefined {
    for (const holder of holders) if (this.#isFull(holder)) return { kind: "full", holder };
    return this.#open >= this.#most ? { kind: "full" } : undefined;
  }

  #isFull({ name, most }: Holder): boolean {
    return (this.#held.get(name) ?? 0) >= most;
  }

  #take(holders: readonly Holder[]): () => void {
    this.#open += 1;
    for (const { name } of holders) this.#held.set(name, (this.#held.get(name) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#giveBack(holders);
    };
  }

  #giveBack(holders: readonly Holder[]): void {
    this.#open -= 1;
    for (const { name } of holders) {
      const left = (this.#held.get(name) ?? 1) - 1;
      if (left === 0) this.#held.delete(name);
      else this.#held.set(name, left);
    }
    if (this.#queues.size > 0) this.#startWaiting();
  }

  #startWaiting(): void {
    // One that ends immediately makes room while this loop runs.
    if (this.#isStarting) return;
    this.#isStarting = true;
    try {
      while (this.#open < this.#most && this.#startOne(this.#queues, []));
    } finally {
      this.#isStarting = false;
    }
  }

  /** Starts the next one that may have a permit; its holders go to the end of their queues. */
  #startOne(queues: Queues, outer: readonly Holder[]): boolean {
    for (const [name, queue] of queues) {
      if (isEmpty(queue)) queues.delete(name);
      else if (!this.#isFull(queue.holder)) {
        const holders = [...outer, queue.holder];
        const [begin] = queue.waiting;
        if (begin) {
          queue.waiting.delete(begin);
          moveToEnd(queues, name, queue);
          begin(this.#take(holders));
          return true;
        }
        if (this.#startOne(queue.inner, holders)) {
          moveToEnd(queues, name, queue);
          return true;
        }
      }
    }
    return false;
  }
}

const isEmpty = ({ waiting, inner }: Queue): boolean => waiting.size === 0 && inner.size === 0;

function moveToEnd(queues: Queues, name: string, queue: Queue): void {
  queues.delete(name);
  if (!isEmpty(queue)) queues.set(name, queue);
}

function queueOf(queues: Queues, [holder, ...further]: readonly Holder[]): Queue {
  if (holder === undefined) throw new Error("nobody can wait for a permit without a holder");
  const queue = queues.get(holder.name) ?? { holder, waiting: new Set(), inner: new Map() };
  queues.set(holder.name, queue);
  return further.length === 0 ? queue : queueOf(queue.inner, further);
}
