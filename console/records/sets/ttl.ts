import { lowestTtl } from "../../../src/contract/rrsets-limits.ts";
import { highestTtl } from "../../../src/core/records/rrset.ts";
import { durationInWords } from "../../shared/time/words-of-time.ts";

export const isTtl = (seconds: number): boolean =>
  Number.isInteger(seconds) && seconds >= lowestTtl && seconds <= highestTtl;

export const ttlFault = `whole seconds, from ${lowestTtl} to ${highestTtl}`;

/** The TTL in words; undefined if the number is not a valid TTL. */
export const ttlInWords = (seconds: number): string | undefined =>
  isTtl(seconds) ? durationInWords(seconds * 1_000) : undefined;
