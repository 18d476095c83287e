/** The TTL of the DNSKEY set, in seconds. Resolvers may cache an old one for this long: every change of keys waits. */
export const keyTtl = 3_600;

/** Time for secondaries to transfer a change, in milliseconds; every wait for caches is longer by this. */
export const transferMargin = 300_000;
