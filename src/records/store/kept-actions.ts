const day = 86_400_000;

/** How long, and how many, actions and idempotency keys every store keeps. */
export const actionsKept = { time: 7 * day, most: 250_000 };
export const keysKept = { time: day, most: 200_000 };

/**
 * The signature of a DNS UPDATE is stored as an idempotency key too, with this fingerprint, against replays. It expires
 * at most ten minutes after it arrived: it may be signed up to five minutes ahead of the clock here, and is valid for
 * five minutes from then.
 */
export const signatures = { fingerprint: "signature", kept: 900_000 };

/** How many rows are written between two purges, and how many rows each DELETE of a purge removes at most. */
export const purgeEvery = 1_000;
export const purgedAtOnce = 5_000;

/** The end of an action that is running until a provider has its change: an outage may last for days. */
export const untilPublished = Number.MAX_SAFE_INTEGER;

export const changedNothing = { changedNothing: true } as const;
