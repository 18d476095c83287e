/** A signal that stops with `outer` and after `ms`. Let go of when done: the outer signal lives as long as the program. */
export function boundedBy(outer: AbortSignal, ms: number): Disposable & { readonly signal: AbortSignal } {
  const inner = new AbortController();
  const stop = () => inner.abort(outer.reason);
  const timer = setTimeout(() => inner.abort(new DOMException("too slow", "TimeoutError")), ms);
  outer.addEventListener("abort", stop, { once: true });
  if (outer.aborted) stop();
  return {
    signal: inner.signal,
    [Symbol.dispose]() {
      clearTimeout(timer);
      outer.removeEventListener("abort", stop);
    },
  };
}
