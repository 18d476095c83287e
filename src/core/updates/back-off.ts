export type BackOff = { readonly base: number; readonly cap: number };

/** "Full jitter": a random delay below a bound that doubles with each failure in a row. `random` is in [0, 1). */
export function backOffDelay(failures: number, random: number, { base, cap }: BackOff): number {
  if (failures <= 0) return 0;
  return Math.floor(random * Math.min(cap, base * 2 ** failures));
}

/** Plus or minus 10%, so that clients that were started together do not stay in sync. */
export function jittered(interval: number, random: number): number {
  return Math.round(interval * (0.9 + 0.2 * random));
}
