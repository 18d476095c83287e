const day = 86_400_000;

/** What every store keeps of actions, and of the keys that make a request count once. */
export const actionsKept = { time: 7 * day, most: 250_000 };
export const keysKept = { time: day, most: 200_000 };

/**
 * The signature of a DNS UPDATE is a key too, under this fingerprint. It is worth nothing ten minutes after it has come: it may have been
 * made five minutes ahead of the clock here, and counts for five minutes from then.
 */
export const signatures = { fingerprint: "signature", kept: 900_000 };

/** How many are written between two looks at what is too old or too much, and how many then go at the most. */
export const purgeEvery = 1_000;
export const purgedAtOnce = 5_000;
