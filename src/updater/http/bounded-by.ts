import { afterAwake } from "../../process/after-awake.ts";

/**
 * A signal that stops with `outer`, and after `ms` in which this process ran. Let go of when done: the outer signal lives as
 * long as the program.
 */
export function boundedBy(outer: AbortSignal, ms: number): Disposable & { readonly signal: AbortSignal } {
  const inner = new AbortController();
  const stop = () => inner.abort(outer.reason);
  const callOff = afterAwake(ms, () => inner.abort(new DOMException("too slow", "TimeoutError")));
  outer.addEventListener("abort", stop, { once: true });
  if (outer.aborted) stop();
  return {
    signal: inner.signal,
    [Symbol.dispose]() {
      callOff();
      outer.removeEventListener("abort", stop);
    },
  };
}
