import type { NameMove } from "../../../src/contract/overview.ts";

/** Milliseconds. */
const month = 30 * 86_400_000;

/** A change on the line of the last 30 days: 0 is the left end, 1 is now. */
export type Tick = NameMove & { readonly place: number };

export type Month = {
  readonly ticks: readonly Tick[];
  /** Where the history begins that was read: nothing is known to the left of it. */
  readonly knownFrom: number;
};

export function monthOf(moves: readonly NameMove[], since: string | null, now: number): Month {
  const placeOf = (at: string) => Math.min(1, Math.max(0, 1 - (now - Date.parse(at)) / month));
  const ticks = moves
    .filter(({ at }) => Date.parse(at) > now - month)
    .map((move) => ({ ...move, place: placeOf(move.at) }));
  return { ticks, knownFrom: since === null ? 0 : placeOf(since) };
}

/** The tick that is closest to a place. */
export const nearest = (ticks: readonly Tick[], place: number): number =>
  ticks.reduce(
    (best, tick, i) =>
      Math.abs(tick.place - place) < Math.abs((ticks[best]?.place ?? Number.POSITIVE_INFINITY) - place) ? i : best,
    0,
  );
