import { parseNetwork } from "../../core/addresses/network.ts";
import { comesFrom } from "../../core/addresses/peer-address.ts";
import { type Privilege, privileges } from "./privileges.ts";

/** Whose key it is, and what he holds himself and by his groups. */
export type Holder = {
  readonly disabled: boolean;
  readonly expires?: Date;
  readonly privileges: readonly Privilege[];
  readonly groups: readonly GroupRights[];
};

/** A group's privileges count only for calls from its networks; without networks they count from everywhere. */
export type GroupRights = { readonly privileges: readonly Privilege[]; readonly networks: readonly string[] };

/** Where a call comes from, and when; an unknown place is in no network. */
export type Caller = { readonly from?: string; readonly now: Date };

/** A key is void while its user is disabled or past the expiry date. */
export const isInForce = ({ disabled, expires }: Pick<Holder, "disabled" | "expires">, now: Date): boolean =>
  !disabled && (expires === undefined || now.getTime() < expires.getTime());

/** What a key opens: what its user holds here and now, cut down to the key's own limit if it has one. */
export function rightsOf(holder: Holder, limit: readonly Privilege[] | undefined, caller: Caller): Privilege[] {
  const counting = holder.groups.filter(({ networks }) => networks.length === 0 || isFrom(caller.from, networks));
  const held = new Set([...holder.privileges, ...counting.flatMap((group) => group.privileges)]);
  const within = limit === undefined ? held : new Set(limit);
  const covers = (set: ReadonlySet<Privilege>, privilege: Privilege) => set.has("all") || set.has(privilege);
  const both = privileges.filter(
    (each) => (held.has(each) && covers(within, each)) || (within.has(each) && covers(held, each)),
  );
  return both.includes("all") ? ["all"] : both;
}

const isFrom = (from: string | undefined, networks: readonly string[]): boolean =>
  comesFrom(
    from,
    networks.flatMap((text) => parseNetwork(text) ?? []),
  );
