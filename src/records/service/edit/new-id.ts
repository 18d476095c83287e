import { randomBytes, randomInt } from "node:crypto";

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

export const newRecordId = (): string => randomBytes(16).toString("hex");
