import type { Instant } from "../../core/instant.ts";

/** The beginning of `2027-12-31`, in UTC. `Date.parse` alone reads the 31st of February as a day in March. */
export function readDay(text: string): Instant | undefined {
  const start = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(start) && new Date(start).toISOString().startsWith(text) ? start : undefined;
}
