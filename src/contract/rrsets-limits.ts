/** Limits of the record-set API. The highest TTL is that of DNS itself. */
export const lowestTtl = 60;
export const mostRecords = 50;
export const mostChanges = 500;
/** In bytes. A comment is stored with every version of its record. */
export const longestComment = 1_000;
export const longestKey = 255;
export const largestZoneFile = 4 * 1024 * 1024;
/** Of a zone file. They are written in one transaction, which blocks all other writes. */
export const mostFileRecords = 10_000;
