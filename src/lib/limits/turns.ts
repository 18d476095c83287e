import type { Steps } from "../../core/steps.ts";
import { KeyedSemaphore } from "./semaphore.ts";
import { StoreBusy } from "./store-busy.ts";

/**
 * Long work in small parts, so that one owner's work never holds up the others' short requests. The event loop gets its turn
 * between two parts, and owners take turns: a hundred requests of one owner together get as much time as one of another.
 */
export type Turns = {
  /** Resolves when this owner's next part may run. Only one part of any owner runs at a time, and short requests get time after it. */
  readonly next: (owner: number) => Promise<void>;
  /** Runs the steps to their end, as many per part as fit into a few milliseconds. Ends early when the signal is aborted. */
  readonly run: <T>(owner: number, steps: Steps<T>, signal?: AbortSignal) => Promise<T>;
  /**
   * For a request that needs much memory: each owner has one at a time, and its others wait in order. Returns a function that lets
   * the next one in. Rejects with `StoreBusy` if too many wait, and with the signal's reason if that is aborted.
   */
  readonly hold: (owner: number, signal: AbortSignal) => Promise<() => void>;
};

export type TurnsOptions = {
  /** Milliseconds that one part may take; a single step may take longer. */
  readonly part?: number;
  /** How many large requests of one owner may wait. */
  readonly mostWaiting?: number;
  readonly clock?: () => number;
};

type Waiting = () => void;

/** Milliseconds; a turn of the event loop that takes less has found nothing to do. */
const idle = 0.1;

export const createTurns = (options: TurnsOptions = {}): Turns => new OwnersInTurn(options);

class OwnersInTurn implements Turns {
  readonly #part: number;
  readonly #mostWaiting: number;
  readonly #clock: () => number;
  // The owner who has waited longest is the first in the map; after a part it goes to the end.
  readonly #parts = new Map<number, Waiting[]>();
  readonly #large = new KeyedSemaphore(Number.POSITIVE_INFINITY);
  #scheduled = false;

  constructor({ part = 4, mostWaiting = 8, clock = () => performance.now() }: TurnsOptions) {
    this.#part = part;
    this.#mostWaiting = mostWaiting;
    this.#clock = clock;
  }

  readonly next = (owner: number): Promise<void> => {
    return new Promise((resolve) => {
      const waiting = this.#parts.get(owner);
      if (waiting === undefined) this.#parts.set(owner, [resolve]);
      else waiting.push(resolve);
      this.#schedule();
    });
  };

  readonly run = async <T>(owner: number, steps: Steps<T>, signal?: AbortSignal): Promise<T> => {
    const clock = this.#clock;
    for (;;) {
      await this.next(owner);
      signal?.throwIfAborted();
      const end = clock() + this.#part;
      do {
        const step = steps.next();
        if (step.done) return step.value;
      } while (clock() < end);
    }
  };

  readonly hold = async (owner: number, signal: AbortSignal): Promise<() => void> => {
    signal.throwIfAborted();
    const holder = { name: String(owner), most: 1 };
    if (!this.#large.isFreeFor([holder]) && this.#large.waitingFor(holder) >= this.#mostWaiting) throw tooMany();
    return this.#large.acquire([holder], signal);
  };

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#runNext());
  }

  #runNext(): void {
    const [first] = this.#parts;
    if (first === undefined) {
      this.#scheduled = false;
      return;
    }
    const [owner, waiting] = first;
    const begin = waiting.shift();
    this.#parts.delete(owner);
    if (waiting.length > 0) this.#parts.set(owner, waiting);
    const begun = this.#clock();
    setImmediate(() => {
      const ended = this.#clock();
      this.#giveWay(ended, ended, ended - begun);
    });
    begin?.();
  }

  /**
   * The others get as much time as the part took, or until there is nothing to do for them. One turn of the loop is not enough:
   * it accepts one new connection, and reads one piece of each request.
   */
  #giveWay(since: number, turned: number, time: number): void {
    setImmediate(() => {
      const now = this.#clock();
      if (now - turned < idle || now - since >= time) this.#runNext();
      else this.#giveWay(since, now, time);
    });
  }
}

const tooMany = () =>
  new StoreBusy("too many large requests of this account are waiting; send them one at a time", { isLogged: true });
