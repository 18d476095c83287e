const steps = 20;

/**
 * Calls after so many milliseconds in which this process could run: a machine that sleeps, or is busy with others, takes one
 * step of them, however long that is. Gives the way to call it off. Nothing is kept running for it.
 */
export function afterAwake(milliseconds: number, then: () => void): () => void {
  let left = steps;
  const timer = setInterval(() => {
    left -= 1;
    if (left > 0) return;
    clearInterval(timer);
    then();
  }, milliseconds / steps).unref();
  return () => clearInterval(timer);
}
