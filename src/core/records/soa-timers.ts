import type { RRset } from "./rrset.ts";

/** Seconds. */
export type SoaTimers = { readonly refresh: number; readonly retry: number; readonly expire: number };

/** The canonical text of a zone's SOA. */
export const soaIn = (sets: readonly RRset[]): string =>
  sets.find((set) => set.type === "SOA")?.records[0]?.rdata ?? ". . 0 0 0 0 0";

/** How long negative answers may be cached (RFC 2308 section 3). */
export function negativeTtlIn(sets: readonly RRset[], zoneTtl: number): number {
  const ttl = sets.find((set) => set.type === "SOA")?.ttl ?? zoneTtl;
  return Math.min(ttl, Number(soaIn(sets).split(" ")[6] ?? 0));
}

export function timersIn(soa: string): SoaTimers {
  const [, , , refresh, retry, expire] = soa.split(" ").map(Number);
  return { refresh: refresh ?? 0, retry: retry ?? 0, expire: expire ?? 0 };
}
