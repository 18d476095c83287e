const day = 86_400_000;

/** What every store keeps of actions, and of the keys that make a request count once. */
export const actionsKept = { time: 7 * day, most: 250_000 };
export const keysKept = { time: day, most: 100_000 };

/** How many are written between two looks at what is too old or too much, and how many then go at the most. */
export const purgeEvery = 1_000;
export const purgedAtOnce = 5_000;
