/** One address and how long a name had it. */
export type Span = { readonly address: string; readonly from: number; readonly until: number | undefined };

/** Turns addresses with their times, the oldest first, into spans; `until` is undefined for the current one. */
export function spansOf(points: readonly { readonly address: string; readonly at: number }[]): readonly Span[] {
  const moves = points.filter(({ address }, i) => address !== points[i - 1]?.address);
  return moves.map(({ address, at }, i) => ({ address, from: at, until: moves[i + 1]?.at }));
}

/** Where the drawing ends. The page's clock ticks rarely, but a change since the last tick must be drawn too. */
export const drawnUntil = (spans: readonly Span[], now: number): number =>
  Math.max(now, ...spans.map(({ from }) => from));

/** The latest spans that have at most `most` different addresses. */
export function latestSpans(spans: readonly Span[], most: number): readonly Span[] {
  const seen = new Set<string>();
  const tooMany = spans.findLastIndex(({ address }) => seen.add(address).size > most);
  return spans.slice(tooMany + 1);
}
