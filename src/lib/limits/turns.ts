import type { Steps } from "../../core/steps.ts";
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

export function createTurns(options: TurnsOptions = {}): Turns {
  const { part = 4, mostWaiting = 8, clock = () => performance.now() } = options;
  // The owner who has waited longest is the first in the map; after a part it goes to the end.
  const parts = new Map<number, Waiting[]>();
  const held = new Map<number, Waiting[]>();
  let scheduled = false;

  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(turn);
  };
  const turn = () => {
    const [first] = parts;
    if (first === undefined) {
      scheduled = false;
      return;
    }
    const [owner, waiting] = first;
    const begin = waiting.shift();
    parts.delete(owner);
    if (waiting.length > 0) parts.set(owner, waiting);
    const begun = clock();
    setImmediate(() => {
      const ended = clock();
      giveWay(ended, ended, ended - begun);
    });
    begin?.();
  };
  /**
   * The others get as much time as the part took, or until there is nothing to do for them. One turn of the loop is not enough:
   * it accepts one new connection, and reads one piece of each request.
   */
  const giveWay = (since: number, turned: number, time: number) => {
    setImmediate(() => {
      const now = clock();
      if (now - turned < idle || now - since >= time) turn();
      else giveWay(since, now, time);
    });
  };
  const next = (owner: number): Promise<void> =>
    new Promise((resolve) => {
      const waiting = parts.get(owner);
      if (waiting === undefined) parts.set(owner, [resolve]);
      else waiting.push(resolve);
      schedule();
    });

  const letIn = (owner: number) => {
    const begin = held.get(owner)?.shift();
    if (begin === undefined) held.delete(owner);
    else begin();
  };

  return {
    next,
    run: async (owner, steps, signal) => {
      for (;;) {
        await next(owner);
        signal?.throwIfAborted();
        const end = clock() + part;
        do {
          const step = steps.next();
          if (step.done) return step.value;
        } while (clock() < end);
      }
    },
    hold: async (owner, signal) => {
      signal.throwIfAborted();
      const waiting = held.get(owner);
      if (waiting === undefined) held.set(owner, []);
      else if (waiting.length >= mostWaiting) throw tooMany();
      else await inLine(waiting, signal);
      let over = false;
      return () => {
        if (!over) letIn(owner);
        over = true;
      };
    },
  };
}

function inLine(waiting: Waiting[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const begin = () => {
      signal.removeEventListener("abort", stopWaiting);
      resolve();
    };
    const stopWaiting = () => {
      waiting.splice(waiting.indexOf(begin), 1);
      reject(signal.reason as Error);
    };
    signal.addEventListener("abort", stopWaiting);
    waiting.push(begin);
  });
}

const tooMany = () =>
  new StoreBusy("too many large requests of this account are waiting; send them one at a time", { isLogged: true });
