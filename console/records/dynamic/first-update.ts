import type { TokenEntry } from "../../../src/contract/console.ts";
import type { Rrset } from "../../../src/contract/rrsets.ts";

/** What has arrived from the device since its token was created. */
export type FirstUpdate =
  | { readonly kind: "waiting" }
  | { readonly kind: "arrived"; readonly addresses: readonly string[] }
  /** The device sent the address that the record already had. */
  | { readonly kind: "same"; readonly addresses: readonly string[] }
  /** The token was used, but the name has no address. */
  | { readonly kind: "no-address" };

/**
 * `before` are the addresses when the token was created, `now` the current ones; undefined while they are not known.
 */
export function firstUpdate(
  before: readonly string[],
  now: readonly string[] | undefined,
  token: Pick<TokenEntry, "lastUsed"> | undefined,
): FirstUpdate {
  if (now === undefined) return { kind: "waiting" };
  const isSame = now.length === before.length && now.every((address) => before.includes(address));
  if (!isSame && now.length > 0) return { kind: "arrived", addresses: now };
  if (token === undefined || token.lastUsed === null) return { kind: "waiting" };
  return now.length > 0 ? { kind: "same", addresses: now } : { kind: "no-address" };
}

export const addressesIn = (sets: readonly Rrset[]): readonly string[] =>
  sets.filter(isAddressSet).flatMap(({ records }) => records.map(({ value }) => value));

const isAddressSet = ({ type }: Rrset): boolean => type === "A" || type === "AAAA";
