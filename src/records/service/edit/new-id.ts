import { randomFillSync, randomInt } from "node:crypto";

/** Letters and digits without those that look alike, as short UUIDs have them. */
const alphabet = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

export const newZoneId = (): string => Array.from({ length: 22 }, () => alphabet[randomInt(alphabet.length)]).join("");

/** Ids for a write that may be decided on more than once: each is made when it is first asked for, and stays. */
export function newRecordIds(): (i: number) => string {
  const made: string[] = [];
  return (i) => {
    const id = made[i] ?? newRecordId();
    made[i] = id;
    return id;
  };
}

/**
 * The time and 80 random bits, as UUIDs of version 7 have them (RFC 9562, 5.7): ids made together stand together in the index, so a
 * large import writes a few hundred of its pages instead of one for each record.
 */
export const newRecordId = (): string => {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const random = pool.toString("hex", used, used + randomBytesInId);
  used += randomBytesInId;
  return Date.now().toString(16).padStart(12, "0") + random;
};

const randomBytesInId = 10;
/** Asking the system for random bytes costs far more than an id, so they are fetched for many ids. */
const pool = Buffer.alloc(randomBytesInId * 256);
let used = pool.length;
