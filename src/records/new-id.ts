import { randomBytes, randomInt } from "node:crypto";

/** Letters and digits without those that look alike, as short UUIDs have them. */
const alphabet = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

export const newZoneId = (): string => Array.from({ length: 22 }, () => alphabet[randomInt(alphabet.length)]).join("");

export const newRecordId = (): string => randomBytes(16).toString("hex");
