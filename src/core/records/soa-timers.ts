import type { RRset } from "./rrset.ts";

/** Seconds. */
export type SoaTimers = { readonly refresh: number; readonly retry: number; readonly expire: number };

/** The canonical text of a zone's SOA. */
export const soaIn = (sets: readonly RRset[]): string =>
  sets.find((set) => set.type === "SOA")?.records[0]?.rdata ?? ". . 0 0 0 0 0";

export function timersIn(soa: string): SoaTimers {
  const [, , , refresh, retry, expire] = soa.split(" ").map(Number);
  return { refresh: refresh ?? 0, retry: retry ?? 0, expire: expire ?? 0 };
}
