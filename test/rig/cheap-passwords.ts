/** For tests of something else: a hash at the current cost takes a third of a second of processor time. */
export const cheapPasswords = { N: 1_024, r: 8, p: 1 } as const;
