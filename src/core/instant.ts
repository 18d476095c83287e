/** Milliseconds since 1970-01-01 UTC. Rules never ask for the time: it is handed to them. */
export type Instant = number;
