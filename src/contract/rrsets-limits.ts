/** What the record-set API takes at the most, and at the least; the highest TTL is that of DNS itself. */
export const lowestTtl = 60;
export const mostRecords = 50;
export const mostChanges = 500;
/** In bytes: a comment is for people, and is kept with every version of its record. */
export const longestComment = 1_000;
export const longestKey = 255;
export const largestZoneFile = 4 * 1024 * 1024;
/** Of a zone file. They are written in one transaction, and nobody else's write can be done meanwhile. */
export const mostFileRecords = 10_000;
