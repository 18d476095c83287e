import type { Fault } from "../../src/core/result.ts";

/**
 * Drops a fault that another one explains better: at the zone's own name, nobody can remove the SOA to make room for a
 * CNAME.
 */
export function shownFaults(faults: readonly Fault[]): readonly Fault[] {
  const atApex = new Set(faults.flatMap(({ code, where }) => (code === "cname-at-apex" ? [where] : [])));
  return faults.filter(({ code, where }) => code !== "cname-and-other" || !atApex.has(where));
}
