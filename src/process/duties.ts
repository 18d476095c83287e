import type { Logger } from "./log.ts";

/** Work that many nodes could do and that must be done once: whichever node leads does it. */
export type Duties = {
  /**
   * `begin` is called when this node starts to lead (immediately, if it leads already), and what it returns when it no longer leads. Both
   * may happen many times, never two beginnings without an end. Gives the way to withdraw, which ends the work too.
   */
  readonly whenLeading: (begin: () => EndWork) => () => Promise<void>;
  readonly isLeading: () => boolean;
  readonly close: () => Promise<void>;
};

/** Stops what was started; the promise resolves when all of it has ended. */
export type EndWork = () => void | Promise<void>;

export type LedDuties = Duties & { readonly lead: () => void; readonly stepDown: () => void };

type Work = { readonly start: () => void; readonly stop: () => Promise<void> };

/** The duties of a node that does not decide on its own when it leads. */
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

/** One node and no other: it leads from the start. */
export function leadAlways(log: Logger): Duties {
  const duties = createDuties(log);
  duties.lead();
  return duties;
}

/** A beginning waits for the end before it: the same work is never done twice at a time by one node. */
function createWork(begin: () => EndWork, log: Logger): Work {
  let end: EndWork | undefined;
  let ending = Promise.resolve();
  /** Whatever was said before the last word does not count, also when its turn comes only now. */
  let word = 0;

  const logFailure = (error: unknown) => log.error({ err: error }, "a task of the leading node failed");
  const start = () => {
    word += 1;
    const said = word;
    ending = ending
      .then(() => {
        if (said === word && end === undefined) end = begin();
      })
      .catch(logFailure);
  };
  const stop = (): Promise<void> => {
    word += 1;
    const over = Promise.try(end ?? (() => undefined));
    end = undefined;
    ending = Promise.all([ending, over]).then(() => undefined, logFailure);
    return ending;
  };
  return { start, stop };
}
