import { lowestTtl } from "../../../src/contract/rrsets-limits.ts";
import { parseSeconds } from "../../../src/core/rdata/fields/number.ts";
import { highestTtl } from "../../../src/core/records/rrset.ts";
import { durationInWords } from "../../shared/time/words-of-time.ts";

const isTtl = (seconds: number): boolean => Number.isInteger(seconds) && seconds >= lowestTtl && seconds <= highestTtl;

export const ttlFault = `whole seconds, from ${lowestTtl} to ${highestTtl}`;

/** Why this is not a TTL: the limit if it is a time, otherwise how to write one. */
export function typedTtlFault(text: string): string {
  const seconds = secondsIn(text) ?? (/^\d+$/.test(text.trim()) ? Number.POSITIVE_INFINITY : undefined);
  if (seconds === undefined) return "write 300, 5m, 1h or 1d";
  return seconds < lowestTtl ? `too short: at least ${lowestTtl} seconds` : `too long: at most ${highestTtl} seconds`;
}

const secondsIn = (text: string): number | undefined => parseSeconds(text.replaceAll(/\s+/g, ""));

/** A TTL as people type it: `300`, `5m`, `1h 30m`; null for `default`, the zone's TTL; undefined if it is not a TTL. */
export function typedTtl(text: string): number | null | undefined {
  if (text.trim().toLowerCase() === "default") return null;
  const seconds = secondsIn(text);
  return seconds !== undefined && isTtl(seconds) ? seconds : undefined;
}

/** The TTL in words; undefined if the number is not a valid TTL. */
export const ttlInWords = (seconds: number): string | undefined =>
  isTtl(seconds) ? durationInWords(seconds * 1_000) : undefined;
