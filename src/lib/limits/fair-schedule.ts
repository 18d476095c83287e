import type { Steps } from "../../core/steps.ts";
import { type Holder, KeyedSemaphore } from "./semaphore.ts";
import { StoreBusy } from "./store-busy.ts";

export type FairScheduleOptions = {
  /** Milliseconds that one part may take; a single step may take longer. */
  readonly part?: number;
  /** How many large requests of one owner may wait. */
  readonly mostWaiting?: number;
  readonly clock?: () => number;
};

/** Milliseconds; a turn of the event loop that takes less has found nothing to do. */
const idle = 0.1;

/**
 * Long work in small parts, so that one owner's work never holds up the others' short requests. The event loop gets its
 * turn between two parts, and owners take turns: a hundred requests of one owner together get as much time as one of
 * another.
 */
export class FairSchedule {
  readonly #part: number;
  readonly #mostWaiting: number;
  readonly #clock: () => number;
  readonly #parts = new KeyedSemaphore(1);
  readonly #large = new KeyedSemaphore(Number.POSITIVE_INFINITY);

  constructor({ part = 4, mostWaiting = 8, clock = () => performance.now() }: FairScheduleOptions = {}) {
    this.#part = part;
    this.#mostWaiting = mostWaiting;
    this.#clock = clock;
  }

  /**
   * Resolves when this owner's next part may run. Only one part of any owner runs at a time, and short requests get
   * time after it.
   */
  readonly next = (owner: number): Promise<void> =>
    new Promise((resolve) => {
      if (this.#parts.open === 0) this.#waitForLoop();
      this.#parts.enqueue([onlyOne(owner)], (release) => this.#begin(resolve, release));
    });

  /**
   * Runs the steps to their end, as many per part as fit into a few milliseconds. Ends early when the signal is
   * aborted.
   */
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

  /**
   * For a request that needs much memory: each owner has one at a time, and its others wait in order. Returns a
   * function that lets the next one in. Rejects with `StoreBusy` if too many wait, and with the signal's reason if that
   * is aborted.
   */
  readonly hold = async (owner: number, signal: AbortSignal): Promise<() => void> => {
    signal.throwIfAborted();
    const holder = onlyOne(owner);
    const permit = this.#large.tryAcquire([holder]);
    if (permit.kind === "permit") return permit.release;
    if (this.#large.waitingFor(holder) >= this.#mostWaiting) throw tooMany();
    return this.#large.acquire([holder], signal);
  };

  /** The first part begins with the next turn of the loop, when all who want one now are in the queue. */
  #waitForLoop(): void {
    const permit = this.#parts.tryAcquire([]);
    if (permit.kind === "permit") setImmediate(permit.release);
  }

  #begin(begin: () => void, release: () => void): void {
    const begun = this.#clock();
    setImmediate(() => {
      const ended = this.#clock();
      this.#giveWay(ended, ended, ended - begun, release);
    });
    begin();
  }

  /**
   * The others get as much time as the part took, or until there is nothing to do for them. One turn of the loop is not
   * enough: it accepts one new connection, and reads one piece of each request.
   */
  #giveWay(since: number, turned: number, time: number, release: () => void): void {
    setImmediate(() => {
      const now = this.#clock();
      if (now - turned < idle || now - since >= time) release();
      else this.#giveWay(since, now, time, release);
    });
  }
}

/** One part, or one large request, of an owner at a time. */
const onlyOne = (owner: number): Holder => ({ name: String(owner), most: 1 });

const tooMany = () =>
  new StoreBusy("too many large requests of this account are waiting; send them one at a time", { isLogged: true });
