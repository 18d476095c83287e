/** Limits of the record-set API. The highest TTL is that of DNS itself. */
export const lowestTtl = 60;
export const mostRecords = 50;
export const mostChanges = 500;
/** In bytes. A comment is stored with every version of its record. */
export const longestComment = 1_000;
export const longestKey = 255;
/** Of a request with a zone file. JSON of this size is parsed in some 50 ms. */
export const largestZoneFile = 16 * 1024 * 1024;
