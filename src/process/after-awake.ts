const steps = 10;

/**
 * Calls back after so many milliseconds in which this process ran; gives the way to call it off. Seconds for which it stood still,
 * as when the processors of its machine were taken away, count as one step: nobody was slow then, and what has come is read first.
 */
export function afterAwake(milliseconds: number, done: () => void, { ref = true } = {}): () => void {
  let left = steps;
  const timer = setInterval(
    () => {
      left -= 1;
      if (left > 0) return;
      clearInterval(timer);
      done();
    },
    Math.ceil(milliseconds / steps),
  );
  if (!ref) timer.unref();
  return () => clearInterval(timer);
}
