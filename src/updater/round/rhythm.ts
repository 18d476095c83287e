/** Milliseconds. The round after such a pause sends no request; it only notices a clock change or a sleep of the machine. */
export const longestPause = 600_000;

/** Milliseconds without a round after which a watcher counts as stuck. */
export const longestSilence = 2 * longestPause;

/** How soon a change is noticed, in plain words. */
export const describeRhythm = (interval: number): string =>
  `immediately when the firewall pushes a change; otherwise polls every ${interval / 1_000} s`;
