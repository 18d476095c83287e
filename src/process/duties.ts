import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "./log.ts";

/** Work that only one of several nodes may do: the one that leads. */
export type Duties = {
  /**
   * Calls `begin` when this node starts to lead (immediately if it already leads), and the function that `begin`
   * returned when the node stops leading. This may happen many times; `begin` is never called twice without an end in
   * between. Returns a function that ends the work and unregisters it.
   */
  readonly whenLeading: (begin: () => EndWork) => () => Promise<void>;
  readonly isLeading: () => boolean;
  readonly close: () => Promise<void>;
};

/** Stops what was started; the promise resolves when all of it has ended. */
export type EndWork = () => void | Promise<void>;

/** Repeats the work, with a pause of this many milliseconds in between, or of fewer if the work returns a number. */
export function runPeriodically(
  work: (signal: AbortSignal) => Promise<unknown>,
  pause: number,
  onFailure: (error: unknown) => void,
): () => Promise<void> {
  const ended = new AbortController();
  const { signal } = ended;
  const run = async () => {
    while (!signal.aborted) {
      const sooner: unknown = await work(signal).catch((error: unknown) => {
        if (!signal.aborted) onFailure(error);
      });
      await sleep(typeof sooner === "number" ? Math.min(sooner, pause) : pause, undefined, {
        signal,
        ref: false,
      }).catch(() => undefined);
    }
  };
  const running = run();
  return async () => {
    ended.abort();
    await running;
  };
}

export type LedDuties = Duties & { readonly lead: () => void; readonly stepDown: () => void };

type Work = { readonly start: () => void; readonly stop: () => Promise<void> };

/** The caller decides when this node leads. */
export function createDuties(log: Logger): LedDuties {
  const works = new Set<Work>();
  let leading = false;

  const stepDown = () => {
    leading = false;
    for (const work of works) void work.stop();
  };
  return {
    lead: () => {
      leading = true;
      for (const work of works) work.start();
    },
    stepDown,
    isLeading: () => leading,
    whenLeading: (begin) => {
      const work = createWork(begin, log);
      works.add(work);
      if (leading) work.start();
      return async () => {
        works.delete(work);
        await work.stop();
      };
    },
    close: async () => {
      leading = false;
      await Promise.all([...works].map((work) => work.stop()));
      works.clear();
    },
  };
}

/** For a single node: it always leads. */
export function leadAlways(log: Logger): Duties {
  const duties = createDuties(log);
  duties.lead();
  return duties;
}

/** `start` waits until the previous run has ended: one node never does the same work twice at the same time. */
function createWork(begin: () => EndWork, log: Logger): Work {
  let end: EndWork | undefined;
  let ending = Promise.resolve();
  /** The number of calls so far. A `start` that is no longer the latest call when its turn comes does nothing. */
  let calls = 0;

  const logFailure = (error: unknown) => log.error({ err: error }, "a task of the leading node failed");
  const start = () => {
    calls += 1;
    const call = calls;
    ending = ending
      .then(() => {
        if (call === calls && end === undefined) end = begin();
      })
      .catch(logFailure);
  };
  const stop = (): Promise<void> => {
    calls += 1;
    const over = Promise.try(end ?? (() => undefined));
    end = undefined;
    ending = Promise.all([ending, over]).then(() => undefined, logFailure);
    return ending;
  };
  return { start, stop };
}
