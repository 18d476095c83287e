/** Milliseconds since 1970-01-01 UTC. Code in `core` never reads the clock: the time is passed to it. */
export type Instant = number;
