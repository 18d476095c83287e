import { setTimeout as sleep } from "node:timers/promises";

/**
 * A pause by the real clock, for the few tests whose claim needs one: something does not happen for a while, comes at a
 * random moment, or follows a clock that a test cannot set. `why` says which. Every other wait ends by an event, a
 * count, or a clock that is passed in.
 */
export const realPause = async (milliseconds: number, _why: string): Promise<void> => await sleep(milliseconds);
