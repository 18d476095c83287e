import type { Instant } from "../../core/instant.ts";

/** Milliseconds that a clock may be put back by while it is only kept right. */
const slack = 60_000;

/** The clock was put back since it showed `earlier`: what was to happen at a time counted from there would come too late. */
export const wasPutBack = (earlier: Instant, now: Instant): boolean => now < earlier - slack;
