import type { Instant } from "../instant.ts";

const space = 2 ** 32;
const half = 2 ** 31;

/**
 * RFC 1982: 1 when `a` is newer, -1 when `b` is; undefined when they are exactly 2^31 apart, where the RFC defines no
 * order.
 */
export function compareSerials(a: number, b: number): -1 | 0 | 1 | undefined {
  if (a === b) return 0;
  const ahead = (a - b + space) % space;
  if (ahead === half) return undefined;
  return ahead < half ? 1 : -1;
}

/** `YYYYMMDD00` of today (UTC) if that is newer than the current serial, otherwise the current one plus 1. */
export function nextSerial(current: number, now: Instant): number {
  const today = todaysFirst(now);
  return compareSerials(today, current) === 1 ? today : (current + 1) % space;
}

/** From an SOA's canonical text. Blanks in its names are escaped, so splitting at blanks is safe. */
export function serialOf(soa: string): number {
  const serial = Number(soa.split(" ")[serialField]);
  if (!Number.isInteger(serial)) throw new Error("not the canonical text of an SOA record");
  return serial;
}

export function withSerial(soa: string, serial: number): string {
  return soa.split(" ").with(serialField, String(serial)).join(" ");
}

const serialField = 2;

function todaysFirst(now: Instant): number {
  const date = new Date(now);
  return (date.getUTCFullYear() * 10_000 + (date.getUTCMonth() + 1) * 100 + date.getUTCDate()) * 100;
}
