import { parseAddress } from "../../core/addresses/address.ts";

/** Rules without I/O: which names, when to order, how long to wait after a failure. */

export const letsEncrypt = "https://acme-v02.api.letsencrypt.org/directory";

/** A certificate that the authority issued. */
export type Issued = {
  readonly directory: string;
  readonly names: readonly string[];
  readonly validFrom: Date;
  readonly validTo: Date;
};

export type WantedCertificate = { readonly directory: string; readonly names: readonly string[] };

/** Milliseconds until a certificate must be ordered; 0: now. At two thirds of its life, as Let's Encrypt recommends. */
export function untilOrder(issued: Issued | undefined, wanted: WantedCertificate, now: Date): number {
  if (issued === undefined || issued.directory !== wanted.directory || !sameNames(issued.names, wanted.names)) return 0;
  const [from, to] = [issued.validFrom.getTime(), issued.validTo.getTime()];
  return Math.max(0, from + (2 / 3) * (to - from) - now.getTime());
}

const sameNames = (some: readonly string[], others: readonly string[]): boolean =>
  some.toSorted().join() === others.toSorted().join();

const minute = 60_000;
const hour = 60 * minute;

/**
 * Milliseconds to wait after the `failures`th failure in a row. Let's Encrypt allows five failed checks of a name per
 * hour: a refusal is retried up to four times in the first hour, and eventually every six hours. `random`: 0 to 1.
 */
export function waitAfter(
  { kind, retryAfter = 0 }: { readonly kind: "refused" | "unavailable"; readonly retryAfter?: number | undefined },
  failures: number,
  random: number,
): number {
  const [first, most] = kind === "refused" ? [6 * minute, 6 * hour] : [minute, hour];
  const backOff = Math.min(first * 2 ** (failures - 1), most);
  // The random part only prolongs the wait, so that the authority is never asked sooner than it allows.
  return Math.max(backOff, Math.min(retryAfter, longestRetryAfter)) * (1 + random / 4);
}

/** A wrong clock on either side must not stop renewals for good. */
const longestRetryAfter = 7 * 24 * hour;

/** Milliseconds left of a wait that the authority asked for before a restart. */
export function remainingWait(
  { leaveAlone }: { readonly leaveAlone?: { readonly directory: string; readonly until: number } },
  directory: string,
  now: Date,
): number {
  if (leaveAlone?.directory !== directory) return 0;
  const wait = leaveAlone.until - now.getTime();
  return wait > longestRetryAfter ? 0 : Math.max(0, wait);
}

/**
 * The names that an authority can put into a certificate. A public authority refuses names that are not in public DNS
 * (RFC 6761, 6762, 8375, 9476); a private one may accept them.
 */
export function namesToOrder(names: readonly string[], directory: string): readonly string[] {
  const hosts = names.filter((name) => parseAddress(name) === undefined && name.includes("."));
  return [...new Set(directory === letsEncrypt ? hosts.filter((name) => !privateUse.test(name)) : hosts)];
}

const privateUse = /(?:^|\.)(?:localhost|local|test|invalid|example|internal|alt|onion|lan|home|corp|home\.arpa)$/;
