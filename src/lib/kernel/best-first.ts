import { isMarked, type KernelAddress } from "./row.ts";

/**
 * Most clients take the first address of a family that is not link-local, so usable and permanent addresses come first;
 * the kernel lists the newest first, whatever its state. The firewall's report can mark only some of the states, and
 * neither temporary addresses (RFC 8981) nor duplicates.
 */
export const bestFirst = (addresses: readonly KernelAddress[]): readonly KernelAddress[] =>
  addresses.toSorted((a, b) => rank(a) - rank(b));

function rank(address: KernelAddress): number {
  if (isLinkLocal(address.local)) return 4;
  if (isUnproven(address)) return 3;
  if (isMarked(address.deprecated)) return 2;
  return Number(isMarked(address.temporary));
}

/** Duplicate address detection has not finished, or has failed (RFC 4862 section 5.4). */
export const isUnproven = ({ tentative, dadfailed }: KernelAddress): boolean =>
  isMarked(tentative) || isMarked(dadfailed);

export const withoutZone = (text: string): string => text.replace(/%.*$/, "");
export const isLinkLocal = (text: string): boolean => /^fe[89ab][0-9a-f]:/i.test(text);
