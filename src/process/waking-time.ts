const steps = 8;
const longestStep = 1_000;

/**
 * Calls back after `ms` in which this process ran; gives the way to call it off. Seconds for which it stood still, as when the
 * processors of its machine were taken away, count as one step: nobody was slow then, and what has come meanwhile is read first.
 */
export function afterWaking(ms: number, done: () => void, { ref = true } = {}): () => void {
  const step = Math.min(longestStep, Math.ceil(ms / steps));
  let left = ms;
  let timer: NodeJS.Timeout;
  const wait = () => {
    timer = setTimeout(() => {
      left -= step;
      if (left > 0) wait();
      else done();
    }, step);
    if (!ref) timer.unref();
  };
  wait();
  return () => clearTimeout(timer);
}
