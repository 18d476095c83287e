import { type Network, parseNetwork, sharesPrefix } from "../../core/addresses/network.ts";
import type { Actor } from "./audit.ts";
import { displayNames, type Grant, grantsFrom, grantsOf, type Holder, type Privilege } from "./privileges.ts";
import type { GroupStore, User, UserStore } from "./users.ts";

/** What a user, a group or a key has. For the actor: only the grants that apply here and now. */
export type Standing = {
  readonly grants: readonly Grant[];
  /** Absent if it cannot expire, such as a group. */
  readonly expires?: Date | "never";
  /** A disabled user counts as expired, so enabling one counts as giving. */
  readonly disabled?: boolean;
};

export type Excess =
  | { readonly kind: "privileges"; readonly lacking: readonly Privilege[] }
  /** It, or what it gains, would be valid longer than the actor. */
  | { readonly kind: "expiry" };

/**
 * Nobody can give more than they have, or change or remove what has more than they have. Returns why turning `before` into
 * `after` is too much; undefined if it is allowed. Without `before` something is added (a key is added with its user's
 * standing), without `after` it is removed. All services and pages check this; the command line does not, because anybody
 * who can read the data folder can do everything.
 */
export function excessOf(
  actor: Standing,
  { before, after }: { readonly before?: Standing; readonly after?: Standing },
): Excess | undefined {
  const [had, has] = [before?.grants ?? [], after?.grants ?? []];
  const lacking = lackedBy(actor.grants, [...had, ...has]);
  if (lacking.length > 0) return { kind: "privileges", lacking };
  // A user who is valid longer than the actor keeps what they have, but must not gain anything from the actor.
  const gains = lackedBy(had, has).length > 0;
  const latest = Math.max(gains ? Number.NEGATIVE_INFINITY : endOf(before), endOf(actor, Number.POSITIVE_INFINITY));
  return endOf(after) > latest ? { kind: "expiry" } : undefined;
}

const lackedBy = (held: readonly Grant[], wanted: readonly Grant[]): readonly Privilege[] => [
  ...new Set(wanted.flatMap(({ privileges, networks }) => privileges.filter((each) => !covers(held, each, networks)))),
];

/** `all` includes privileges that later versions add, so holding every other one is not enough to give it. */
const covers = (held: readonly Grant[], privilege: Privilege, networks: readonly string[]): boolean =>
  held.some(
    (grant) =>
      (grant.privileges.includes("all") || grant.privileges.includes(privilege)) && areWithin(networks, grant.networks),
  );

/** No networks means from anywhere. */
function areWithin(networks: readonly string[], outer: readonly string[]): boolean {
  if (outer.length === 0) return true;
  const around = outer.flatMap((text) => parseNetwork(text) ?? []);
  const inner = networks.flatMap((text) => parseNetwork(text) ?? []);
  return networks.length > 0 && inner.every((each) => around.some((network) => isWithin(each, network)));
}

const isWithin = (inner: Network, outer: Network): boolean =>
  inner.family === outer.family && inner.length >= outer.length && sharesPrefix(inner.bytes, outer);

function endOf(standing: Standing | undefined, without = Number.NEGATIVE_INFINITY): number {
  if (standing?.expires === undefined || standing.disabled === true) return without;
  return standing.expires === "never" ? Number.POSITIVE_INFINITY : standing.expires.getTime();
}

/** The wanted state of a group; without `after` it is removed. */
type GroupWish = {
  readonly name: string;
  readonly after: (Grant & { readonly members: readonly string[] }) | undefined;
};

/** The standings of the users, groups and keys in a store, for `excessOf`. */
export function openStandings({ users, groups }: { readonly users: UserStore; readonly groups: GroupStore }) {
  const holder = (user: User): Holder => users.holder(user.name) ?? { ...user, groups: [] };
  const ofUser = (user: User): Standing => standingOf(holder(user));
  const ofUserThen = (user: User, { name: changed, after }: GroupWish): Standing => {
    const others = groups.list().filter(({ name, members }) => name !== changed && members.includes(user.name));
    return standingOf({ ...user, groups: after?.members.includes(user.name) ? [...others, after] : others });
  };
  return {
    holder,
    ofUser,
    /** A signed-in user, with the grants that apply where the request came from. */
    ofActor: ({ name, source }: Actor): Standing => {
      const user = users.find(name);
      return user === undefined ? { grants: [] } : countingFrom(ofUser(user), source);
    },
    /** The first of these users who has more than `actor`, or would gain more from the change of a group than `actor` can give. */
    firstAbove: (actor: Standing, names: readonly string[], change: GroupWish) => {
      for (const user of names.flatMap((name) => users.find(name) ?? [])) {
        const excess = excessOf(actor, { before: ofUser(user), after: ofUserThen(user, change) });
        if (excess !== undefined) return { name: user.name, excess };
      }
      return undefined;
    },
  };
}

export const standingOf = (holder: Holder, limit?: Holder["privileges"]): Standing => ({
  grants: grantsOf(holder, limit),
  expires: holder.expires ?? "never",
  disabled: holder.disabled,
});

export const countingFrom = (standing: Standing, from: string): Standing => ({
  ...standing,
  grants: grantsFrom(standing.grants, { from }),
});

export function excessInWords(excess: Excess, of?: string): string {
  const who = "Ask another administrator, or use the moor command on the machine that runs this service.";
  if (excess.kind === "expiry" && of !== undefined)
    return `The account of ${of} expires later than your own, so you cannot give them more privileges. ${who}`;
  if (excess.kind === "expiry") return `That would expire later than your own account. ${who}`;
  const names = excess.lacking.map((each) => `“${displayNames[each]}”`).join(", ");
  const what = of === undefined ? `That needs ${names}` : `The user ${of} has ${names}`;
  return `${what}, which you do not have from this address. You can manage only what you have yourself. ${who}`;
}
