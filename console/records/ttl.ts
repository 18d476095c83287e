import { durationInWords } from "../shared/words-of-time.ts";

/** What the service takes. */
const [shortest, longest] = [60, 2_147_483_647];

export const isTtl = (seconds: number): boolean =>
  Number.isInteger(seconds) && seconds >= shortest && seconds <= longest;

export const ttlFault = `whole seconds, from ${shortest} to ${longest}`;

/** How long that is; undefined for what is no TTL. */
export const ttlInWords = (seconds: number): string | undefined =>
  isTtl(seconds) ? durationInWords(seconds * 1_000) : undefined;
