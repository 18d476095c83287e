/**
 * Milliseconds that queries wait for the database: a healthy one needs one or two. After that they get the last known
 * answer.
 */
const longestWait = 40;

/** Calls back when what is waited for has not come in time. Returns a function that ends the wait. */
export function whenLate(late: () => void, longest = longestWait): () => void {
  let isOver = false;
  // An answer that has arrived already comes first, in case this thread was busy for so long.
  const timer = setTimeout(() => setImmediate(() => isOver || late()), longest).unref();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

type Reads = Readonly<Record<string, (...args: never[]) => Promise<unknown>>>;

/** The same reads; calls back when one of them does not get its answer in time. */
export function noticeLate<R extends Reads>(reads: R, late: () => void): R {
  const noticed = Object.entries(reads).map(([name, read]) => [
    name,
    async (...args: never[]) => {
      const end = whenLate(late);
      try {
        return await read(...args);
      } finally {
        end();
      }
    },
  ]);
  return Object.fromEntries(noticed) as R;
}
