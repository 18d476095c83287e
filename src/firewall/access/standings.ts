import type { Actor } from "./audit.ts";
import type { GroupStore } from "./groups.ts";
import { type Excess, excessOf, type Standing } from "./may-manage.ts";
import { displayNames } from "./privileges.ts";
import { type Grant, grantsFrom, grantsOf, type Holder } from "./rights.ts";
import type { User, UserStore } from "./users.ts";

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
