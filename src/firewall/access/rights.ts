import { parseNetwork } from "../../core/addresses/network.ts";
import { comesFrom } from "../../core/addresses/peer-address.ts";
import { type Privilege, privileges } from "./privileges.ts";

/** The user of a key, with the privileges they have directly and through groups. */
export type Holder = {
  readonly disabled: boolean;
  readonly expires?: Date;
  readonly privileges: readonly Privilege[];
  readonly groups: readonly Grant[];
};

/** Privileges that apply only to calls from these networks; without networks, from anywhere. */
export type Grant = { readonly privileges: readonly Privilege[]; readonly networks: readonly string[] };

/** Where a call comes from, and when; an unknown address is in no network. */
export type Caller = { readonly from?: string; readonly now: Date };

/** Why a user's password and keys are not accepted now. */
export type ShutOut = "disabled" | "expired";

export function shutOut({ disabled, expires }: Pick<Holder, "disabled" | "expires">, now: Date): ShutOut | undefined {
  if (disabled) return "disabled";
  return expires !== undefined && now.getTime() >= expires.getTime() ? "expired" : undefined;
}

export const isInForce = (holder: Pick<Holder, "disabled" | "expires">, now: Date): boolean =>
  shutOut(holder, now) === undefined;

/** What a key allows: the privileges that its user has here and now, within the key's own limit if it has one. */
export function rightsOf(holder: Holder, limit: readonly Privilege[] | undefined, caller: Caller): Privilege[] {
  const counting = new Set(grantsFrom(grantsOf(holder, limit), caller).flatMap((grant) => grant.privileges));
  return counting.has("all") ? ["all"] : privileges.filter((each) => counting.has(each));
}

/** All grants of a holder, for any network, within a key's limit if there is one. */
export const grantsOf = (holder: Pick<Holder, "privileges" | "groups">, limit?: readonly Privilege[]): Grant[] =>
  [{ privileges: holder.privileges, networks: [] }, ...holder.groups].map((grant) => ({
    privileges: limit === undefined ? grant.privileges : inBoth(grant.privileges, limit),
    networks: grant.networks,
  }));

export const grantsFrom = (grants: readonly Grant[], { from }: Pick<Caller, "from">): Grant[] =>
  grants.filter(({ networks }) => networks.length === 0 || isFrom(from, networks));

function inBoth(a: readonly Privilege[], b: readonly Privilege[]): readonly Privilege[] {
  const covers = (list: readonly Privilege[], each: Privilege) => list.includes("all") || list.includes(each);
  return privileges.filter((each) => (a.includes(each) && covers(b, each)) || (b.includes(each) && covers(a, each)));
}

const isFrom = (from: string | undefined, networks: readonly string[]): boolean =>
  comesFrom(
    from,
    networks.flatMap((text) => parseNetwork(text) ?? []),
  );
