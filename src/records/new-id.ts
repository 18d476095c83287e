import { randomInt, randomUUID } from "node:crypto";

/** Letters and digits without look-alikes, as in short UUIDs. */
const alphabet = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

export const newZoneId = (): string => Array.from({ length: 22 }, () => alphabet[randomInt(alphabet.length)]).join("");

/** Ids for a write that may be decided more than once: each id is created on first use and stays the same. */
export function newRecordIds(): (i: number) => string {
  const made: string[] = [];
  return (i) => {
    const id = made[i] ?? newRecordId();
    made[i] = id;
    return id;
  };
}

/**
 * The time and 80 random bits, as in version 7 UUIDs (RFC 9562, 5.7). Ids created together are close together in the
 * index, so a large import writes a few hundred index pages instead of one per record.
 */
export const newRecordId = (): string => {
  // Node fetches random bytes for many UUIDs in advance, so this is fast. The parts left out contain the version and
  // the variant.
  const random = randomUUID();
  return Date.now().toString(16).padStart(12, "0") + random.slice(0, 8) + random.slice(24);
};
