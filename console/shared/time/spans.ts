/** One address and how long it held. */
export type Span = { readonly address: string; readonly from: number; readonly until: number | undefined };

/** Addresses with the times at which they came, the oldest first, as stretches of time; undefined: still so. */
export function spansOf(points: readonly { readonly address: string; readonly at: number }[]): readonly Span[] {
  const moves = points.filter(({ address }, i) => address !== points[i - 1]?.address);
  return moves.map(({ address, at }, i) => ({ address, from: at, until: moves[i + 1]?.at }));
}

/** Where the drawing ends. Clocks of pages tick rarely, and a change since the last tick is drawn all the same. */
export const drawnUntil = (spans: readonly Span[], now: number): number =>
  Math.max(now, ...spans.map(({ from }) => from));

/** The latest of them, with no more different addresses than that. */
export function latestSpans(spans: readonly Span[], most: number): readonly Span[] {
  const seen = new Set<string>();
  const tooMany = spans.findLastIndex(({ address }) => seen.add(address).size > most);
  return spans.slice(tooMany + 1);
}
