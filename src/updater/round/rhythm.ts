/** Milliseconds. Nothing is asked in a round after it; it only sees that the clock was changed, or the machine asleep. */
export const longestPause = 600_000;

/** Milliseconds without a round after which a watcher counts as stuck. */
export const longestSilence = 2 * longestPause;

/** How a change comes to be known, in words for people. */
export const describeRhythm = (interval: number): string =>
  `immediately when the firewall pushes a change; otherwise polls every ${interval / 1_000} s`;
