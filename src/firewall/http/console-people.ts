import { hostname } from "node:os";
import { hashSecret } from "../../access/secret.ts";
import type {
  AuditLine,
  ConsoleGroup,
  ConsolePeople,
  MadeKey,
  NewUserWish,
  UserField,
  UserWish,
} from "../../contract/console-firewall.ts";
import { parseAddress } from "../../core/addresses/address.ts";
import { parseNetwork } from "../../core/addresses/network.ts";
import type { Actor } from "../access/audit.ts";
import { shortKey } from "../access/keys.ts";
import { excessInWords, excessOf, openStandings, type Standing, standingOf } from "../access/may-manage.ts";
import {
  displayNames,
  isInForce,
  isPrivilege,
  type Privilege,
  presets,
  privileges,
  rightsOf,
} from "../access/privileges.ts";
import type { AccessStore } from "../access/store.ts";
import type { Group } from "../access/users.ts";
import { nameFault, type User } from "../access/users.ts";

/** The result of a change: done, what is wrong with it, or why the caller may not make it. */
export type Changed = "done" | { readonly made: MadeKey } | Wrong | Forbidden | "missing";
type Wrong = { readonly wrong: string; readonly field?: UserField };
type Forbidden = { readonly forbidden: string };

/** Users, groups and keys as the pages manage them. Every change is in the audit log. */
export function consolePeople(access: AccessStore, now: () => Date) {
  const { users, groups, keys, audit, signIns, sessions } = access;
  const standings = openStandings(access);
  const inForce = () => keys.list().filter(({ revoked }) => revoked === undefined);

  const list = (by: Actor): ConsolePeople => {
    const all = inForce();
    return {
      users: users.list().map((user) => ({
        ...user,
        expires: user.expires?.toISOString() ?? null,
        created: user.created.toISOString(),
        keys: all
          .filter(({ name }) => name === user.name)
          .map(({ key, created, lastUsed }) => ({
            id: hashSecret(key),
            beginning: key.slice(0, 12),
            created: created.toISOString(),
            lastUsed: lastUsed?.toISOString() ?? null,
          })),
      })),
      groups: groups.list().map(({ name, privileges: held, networks, members }) => ({
        name,
        networks,
        members,
        privileges: held,
      })),
      privileges: privileges.map((id) => ({ id, name: displayNames[id] })),
      presets: presets.map((preset) => ({
        ...preset,
        mayGive: excess(by, { after: { grants: [{ privileges: preset.privileges, networks: [] }] } }) === undefined,
      })),
    };
  };

  const excess = (by: Actor, wish: { before?: Standing; after?: Standing }): Forbidden | undefined => {
    const found = excessOf(standings.ofActor(by), wish);
    return found && { forbidden: excessInWords(found) };
  };

  /** Members gain and lose privileges with their group, so no affected member may have more than the caller. */
  const groupExcess = (by: Actor, before: Group | undefined, wish: ConsoleGroup | undefined): Forbidden | undefined => {
    const after = wish && { ...wish, privileges: wish.privileges.filter(isPrivilege) };
    const own = excess(by, {
      ...(before && { before: { grants: [before] } }),
      ...(after && { after: { grants: [after] } }),
    });
    const change = { name: before?.name ?? wish?.name ?? "", after };
    const above = standings.firstAbove(standings.ofActor(by), touchedMembers(before, wish), change);
    return own ?? (above && { forbidden: excessInWords(above.excess, above.name) });
  };

  const groupFault = (wish: ConsoleGroup): Wrong | undefined => {
    const wrong = groupWishFault(wish);
    if (wrong !== undefined) return wrong;
    const unknown = wish.members.find((member) => users.find(member) === undefined);
    return unknown === undefined ? undefined : wrongIn("members", `There is no user ${unknown}.`);
  };

  const fillGroup = ({ name, privileges: held, networks, members }: ConsoleGroup): void => {
    groups.change(name, { privileges: held.filter(isPrivilege), networks });
    const before = groups.find(name)?.members ?? [];
    for (const user of before) if (!members.includes(user)) groups.leave(name, user);
    for (const user of members) if (!before.includes(user)) groups.join(name, user);
  };

  /** Whether somebody could undo a change from there. */
  const hasAdministrator = (from: string): boolean =>
    users
      .list()
      .filter((user) => isInForce(user, now()))
      .some((user) => rightsOf(standings.holder(user), undefined, { from, now: now() }).includes("all"));

  /** Makes a change, unless nobody could undo it afterwards from where the caller is. */
  const keepingAdministrator = (by: Actor, change: () => void): Wrong | undefined => {
    const had = hasAdministrator(by.source);
    return access.attempt(change, () => !had || hasAdministrator(by.source)) ? undefined : { wrong: lastAdministrator };
  };

  const noted = (by: Actor, action: string, subject: string): "done" => {
    audit.note(by, action, subject, now());
    return "done";
  };

  const makeKey = (user: string, by: Actor): Changed => {
    const added = keys.addFor(user, undefined, now());
    if (added === undefined) return "missing";
    const { key, secret } = added;
    noted(by, "key added", `${shortKey(key)} of ${user}`);
    const [file, fileName] = [`key=${key}\nsecret=${secret}\n`, `${hostname()}_${user}_apikey.txt`];
    return { made: { key, secret, file, fileName } };
  };

  return {
    list,

    /** The privileges that a user has here and now, directly and through groups. */
    rightsOf: (user: User, from: string): readonly Privilege[] =>
      rightsOf(standings.holder(user), undefined, { from, now: now() }),

    addUser: (wish: NewUserWish, by: Actor): Changed => {
      const wrong = nameWrong("user", wish.name) ?? userFault(wish);
      if (wrong !== undefined) return wrong;
      const forbidden = excess(by, { after: standingOf({ ...toHolder(wish), groups: [] }) });
      if (forbidden !== undefined) return forbidden;
      if (!users.add({ name: wish.name, now: now(), ...toChange(wish) }))
        return wrongIn("name", `A user ${wish.name} already exists.`);
      noted(by, "user added", described(wish));
      return wish.withKey === true ? makeKey(wish.name, by) : "done";
    },

    /** Fields that are left out stay unchanged. */
    changeUser: async (name: string, change: Partial<UserWish>, by: Actor): Promise<Changed> => {
      const user = users.find(name);
      if (user === undefined) return "missing";
      const wish = { ...user, expires: user.expires?.toISOString() ?? null, ...change };
      const wrong = userFault(wish) ?? (name === by.name ? shutOut(user, wish, now()) : undefined);
      if (wrong !== undefined) return wrong;
      const before = standings.holder(user);
      const after = { ...toHolder(wish), groups: before.groups };
      const forbidden = excess(by, { before: standingOf(before), after: standingOf(after) });
      if (forbidden !== undefined) return forbidden;
      const last = keepingAdministrator(by, () => users.change(name, toChange(wish)));
      if (last !== undefined) return last;
      if (wish.disabled) await sessions.removeAll(name);
      return noted(by, "user changed", described({ ...wish, name }));
    },

    removeUser: async (name: string, by: Actor): Promise<Changed> => {
      if (name === by.name) return { wrong: "You cannot remove yourself." };
      const user = users.find(name);
      if (user === undefined) return "missing";
      const forbidden = excess(by, { before: standings.ofUser(user) });
      if (forbidden !== undefined) return forbidden;
      const last = keepingAdministrator(by, () => users.remove(name));
      if (last !== undefined) return last;
      await sessions.removeAll(name);
      return noted(by, "user removed", name);
    },

    addKey: (user: string, by: Actor): Changed => {
      const found = users.find(user);
      const forbidden = found && excess(by, { after: standings.ofUser(found) });
      return forbidden ?? (found ? makeKey(user, by) : "missing");
    },

    revokeKey: (id: string, by: Actor): Changed => {
      const found = inForce().find(({ key }) => hashSecret(key) === id);
      if (found === undefined) return "missing";
      const forbidden = excess(by, { before: keys.standing(found.key) ?? { grants: [] } });
      if (forbidden !== undefined) return forbidden;
      keys.revoke(found.key, now());
      return noted(by, "key deleted", `${shortKey(found.key)} of ${found.name}`);
    },

    addGroup: (wish: ConsoleGroup, by: Actor): Changed => {
      const wrong = nameWrong("group", wish.name) ?? groupFault(wish);
      if (wrong !== undefined) return wrong;
      const forbidden = groupExcess(by, undefined, wish);
      if (forbidden !== undefined) return forbidden;
      if (!groups.add({ name: wish.name, now: now() })) return wrongIn("name", `A group ${wish.name} already exists.`);
      fillGroup(wish);
      return noted(by, "group added", describedGroup(wish));
    },

    /** Fields that are left out stay unchanged; `members` replaces the whole list. */
    changeGroup: (change: Partial<ConsoleGroup> & Pick<ConsoleGroup, "name">, by: Actor): Changed => {
      const group = groups.find(change.name);
      if (group === undefined) return "missing";
      const wish = { ...group, ...change };
      const wrong = groupFault(wish);
      if (wrong !== undefined) return wrong;
      const forbidden = groupExcess(by, group, wish);
      if (forbidden !== undefined) return forbidden;
      const last = keepingAdministrator(by, () => fillGroup(wish));
      if (last !== undefined) return last;
      return noted(by, "group changed", describedGroup(wish));
    },

    removeGroup: (name: string, by: Actor): Changed => {
      const group = groups.find(name);
      if (group === undefined) return "missing";
      const forbidden = groupExcess(by, group, undefined);
      if (forbidden !== undefined) return forbidden;
      const last = keepingAdministrator(by, () => groups.remove(name));
      if (last !== undefined) return last;
      return noted(by, "group removed", name);
    },

    /** The latest first. Sign-ins have their own limit, so that many of them never displace changes. */
    audit: (): readonly AuditLine[] =>
      [
        ...audit.latest(500).map((entry) => ({ ...entry, kind: "change" as const, times: 1 })),
        ...signIns.latest(500).map(({ failed, ...entry }) => ({
          ...entry,
          subject: "",
          kind: failed ? ("failed-sign-in" as const) : ("sign-in" as const),
        })),
      ]
        .toSorted((a, b) => b.at.getTime() - a.at.getTime())
        .map((entry) => ({ ...entry, at: entry.at.toISOString() })),
  };
}

const wrongIn = (field: UserField, wrong: string): Wrong => ({ wrong, field });

function nameWrong(what: "user" | "group", name: unknown): Wrong | undefined {
  const wrong = nameFault(what, name);
  return wrong === undefined ? undefined : wrongIn("name", wrong);
}

function userFault({ fullName, expires, privileges: held }: UserWish): Wrong | undefined {
  if (typeof fullName !== "string" || fullName.length > 200)
    return wrongIn("fullName", "The full name can have at most 200 characters.");
  if (expires !== null && !isDate(expires)) return wrongIn("expires", "The expiry is not a valid date.");
  return privilegeFault(held);
}

const lastAdministrator =
  "This would leave no administrator who can sign in from your address. Make somebody else an administrator first.";

/** An ISO 8601 date, or such a time in UTC. JavaScript takes 30 February for 2 March. */
function isDate(text: unknown): boolean {
  if (typeof text !== "string" || !/^\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?$/.test(text)) return false;
  const time = new Date(text);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text.slice(0, 10));
}

/** Users must not lock themselves out: perhaps nobody else could undo it. */
function shutOut({ privileges: had }: User, wish: UserWish, now: Date): Wrong | undefined {
  const { disabled, expires, privileges: held } = wish;
  if (disabled) return { wrong: "You cannot disable yourself." };
  if (expires !== null && Date.parse(expires) <= now.getTime())
    return wrongIn("expires", "You cannot set your own expiry to the past.");
  if (!had.includes("all") || held.includes("all")) return undefined;
  return wrongIn("privileges", `You cannot remove “${displayNames.all}” from yourself; another administrator can.`);
}

function groupWishFault({ networks, members, privileges: held }: ConsoleGroup): Wrong | undefined {
  if (!isTexts(networks) || !isTexts(members)) return { wrong: "Networks and members must be lists." };
  const bad = networks.find((text) => parseNetwork(text) === undefined && parseAddress(text) === undefined);
  return bad === undefined
    ? privilegeFault(held)
    : wrongIn("networks", `${bad} is not a network such as 192.0.2.0/24.`);
}

function privilegeFault(held: readonly string[]): Wrong | undefined {
  if (!isTexts(held)) return wrongIn("privileges", "Privileges must be a list.");
  const unknown = held.find((text) => !isPrivilege(text));
  return unknown === undefined ? undefined : wrongIn("privileges", `There is no privilege ${unknown}.`);
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length <= 100 && value.every((item) => typeof item === "string");

const toChange = ({ fullName, disabled, expires, privileges: held }: UserWish) => ({
  fullName,
  disabled: disabled === true,
  expires: expires === null ? ("never" as const) : new Date(expires),
  privileges: held.filter(isPrivilege),
});

const toHolder = (wish: UserWish) => {
  const { expires, ...held } = toChange(wish);
  return { ...held, ...(expires !== "never" && { expires }) };
};

/** Users who join or leave; all members if the group's privileges or networks change. */
function touchedMembers(before: Group | undefined, after: ConsoleGroup | undefined): readonly string[] {
  const [had, has] = [before?.members ?? [], after?.members ?? []];
  const rights = (group: Group | ConsoleGroup | undefined) => JSON.stringify([group?.privileges, group?.networks]);
  if (rights(before) !== rights(after)) return [...new Set([...had, ...has])];
  return [...had.filter((name) => !has.includes(name)), ...has.filter((name) => !had.includes(name))];
}

const described = ({ name, disabled, privileges: held }: UserWish): string =>
  `${name}${disabled ? ", disabled" : ""}, privileges: ${held.join(", ") || "none"}`;

const describedGroup = ({ name, privileges: held, members }: ConsoleGroup): string =>
  `${name}, privileges: ${held.join(", ") || "none"}; members: ${members.join(", ") || "none"}`;
