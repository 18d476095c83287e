/** As a process does whose machine gives the processors to others: no timer, no answer, nothing for that time. */
export function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
