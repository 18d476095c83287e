/** Counts passes of the event loop until it is stopped. */
export function countPasses() {
  let passes = 0;
  let next: NodeJS.Immediate | undefined;
  const count = () => {
    passes += 1;
    next = setImmediate(count);
  };
  count();
  return { passes: () => passes, stop: () => clearImmediate(next) };
}
