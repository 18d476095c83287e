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
import { type ApiKey, shortKey } from "../access/keys.ts";
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
export class PeopleAdmin {
  readonly #access: AccessStore;
  readonly #now: () => Date;
  readonly #standings: ReturnType<typeof openStandings>;

  constructor(access: AccessStore, now: () => Date) {
    this.#access = access;
    this.#now = now;
    this.#standings = openStandings(access);
  }

  list(by: Actor): ConsolePeople {
    const { users, groups } = this.#access;
    const keys = this.#keysInForce();
    return {
      users: users.list().map((user) => ({
        ...user,
        expires: user.expires?.toISOString() ?? null,
        created: user.created.toISOString(),
        keys: keys.filter(({ name }) => name === user.name).map(toConsoleKey),
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
        mayGive:
          this.#excess(by, { after: { grants: [{ privileges: preset.privileges, networks: [] }] } }) === undefined,
      })),
    };
  }

  /** The privileges that a user has here and now, directly and through groups. */
  rightsOf(user: User, from: string): readonly Privilege[] {
    return rightsOf(this.#standings.holder(user), undefined, { from, now: this.#now() });
  }

  addUser(wish: NewUserWish, by: Actor): Changed {
    const wrong = nameWrong("user", wish.name) ?? userFault(wish);
    if (wrong !== undefined) return wrong;
    const forbidden = this.#excess(by, { after: standingOf({ ...toHolder(wish), groups: [] }) });
    if (forbidden !== undefined) return forbidden;
    if (!this.#access.users.add({ name: wish.name, now: this.#now(), ...toChange(wish) }))
      return wrongIn("name", `A user ${wish.name} already exists.`);
    this.#note(by, "user added", described(wish));
    return wish.withKey === true ? this.#makeKey(wish.name, by) : "done";
  }

  /** Fields that are left out stay unchanged. */
  async changeUser(name: string, change: Partial<UserWish>, by: Actor): Promise<Changed> {
    const { users, sessions } = this.#access;
    const user = users.find(name);
    if (user === undefined) return "missing";
    const wish = { ...user, expires: user.expires?.toISOString() ?? null, ...change };
    const wrong = userFault(wish) ?? (name === by.name ? shutOut(user, wish, this.#now()) : undefined);
    if (wrong !== undefined) return wrong;
    const before = this.#standings.holder(user);
    const after = { ...toHolder(wish), groups: before.groups };
    const forbidden = this.#excess(by, { before: standingOf(before), after: standingOf(after) });
    if (forbidden !== undefined) return forbidden;
    const last = this.#keepingAdministrator(by, () => users.change(name, toChange(wish)));
    if (last !== undefined) return last;
    if (wish.disabled) await sessions.removeAll(name);
    return this.#note(by, "user changed", described({ ...wish, name }));
  }

  async removeUser(name: string, by: Actor): Promise<Changed> {
    const { users, sessions } = this.#access;
    if (name === by.name) return { wrong: "You cannot remove yourself." };
    const user = users.find(name);
    if (user === undefined) return "missing";
    const forbidden = this.#excess(by, { before: this.#standings.ofUser(user) });
    if (forbidden !== undefined) return forbidden;
    const last = this.#keepingAdministrator(by, () => users.remove(name));
    if (last !== undefined) return last;
    await sessions.removeAll(name);
    return this.#note(by, "user removed", name);
  }

  addKey(name: string, by: Actor): Changed {
    const user = this.#access.users.find(name);
    if (user === undefined) return "missing";
    return this.#excess(by, { after: this.#standings.ofUser(user) }) ?? this.#makeKey(name, by);
  }

  revokeKey(id: string, by: Actor): Changed {
    const { keys } = this.#access;
    const found = this.#keysInForce().find(({ key }) => hashSecret(key) === id);
    if (found === undefined) return "missing";
    const forbidden = this.#excess(by, { before: keys.standing(found.key) ?? { grants: [] } });
    if (forbidden !== undefined) return forbidden;
    keys.revoke(found.key, this.#now());
    return this.#note(by, "key deleted", `${shortKey(found.key)} of ${found.name}`);
  }

  addGroup(wish: ConsoleGroup, by: Actor): Changed {
    const wrong = nameWrong("group", wish.name) ?? this.#groupFault(wish);
    if (wrong !== undefined) return wrong;
    const forbidden = this.#groupExcess(by, undefined, wish);
    if (forbidden !== undefined) return forbidden;
    if (!this.#access.groups.add({ name: wish.name, now: this.#now() }))
      return wrongIn("name", `A group ${wish.name} already exists.`);
    this.#fillGroup(wish);
    return this.#note(by, "group added", describedGroup(wish));
  }

  /** Fields that are left out stay unchanged; `members` replaces the whole list. */
  changeGroup(change: Partial<ConsoleGroup> & Pick<ConsoleGroup, "name">, by: Actor): Changed {
    const group = this.#access.groups.find(change.name);
    if (group === undefined) return "missing";
    const wish = { ...group, ...change };
    const wrong = this.#groupFault(wish) ?? this.#groupExcess(by, group, wish);
    if (wrong !== undefined) return wrong;
    const last = this.#keepingAdministrator(by, () => this.#fillGroup(wish));
    return last ?? this.#note(by, "group changed", describedGroup(wish));
  }

  removeGroup(name: string, by: Actor): Changed {
    const { groups } = this.#access;
    const group = groups.find(name);
    if (group === undefined) return "missing";
    const forbidden = this.#groupExcess(by, group, undefined);
    if (forbidden !== undefined) return forbidden;
    const last = this.#keepingAdministrator(by, () => groups.remove(name));
    return last ?? this.#note(by, "group removed", name);
  }

  /** The latest first. Sign-ins have their own limit, so that many of them never displace changes. */
  audit(): readonly AuditLine[] {
    const { audit, signIns } = this.#access;
    const changes = audit.latest(500).map((entry) => ({ ...entry, kind: "change" as const, times: 1 }));
    const attempts = signIns.latest(500).map(({ failed, ...entry }) => ({
      ...entry,
      subject: "",
      kind: failed ? ("failed-sign-in" as const) : ("sign-in" as const),
    }));
    return [...changes, ...attempts]
      .toSorted((a, b) => b.at.getTime() - a.at.getTime())
      .map((entry) => ({ ...entry, at: entry.at.toISOString() }));
  }

  #keysInForce() {
    return this.#access.keys.list().filter(({ revoked }) => revoked === undefined);
  }

  #excess(by: Actor, wish: { before?: Standing; after?: Standing }): Forbidden | undefined {
    const found = excessOf(this.#standings.ofActor(by), wish);
    return found && { forbidden: excessInWords(found) };
  }

  /** Members gain and lose privileges with their group, so no affected member may have more than the caller. */
  #groupExcess(by: Actor, before: Group | undefined, wish: ConsoleGroup | undefined): Forbidden | undefined {
    const after = wish && { ...wish, privileges: wish.privileges.filter(isPrivilege) };
    const own = this.#excess(by, {
      ...(before && { before: { grants: [before] } }),
      ...(after && { after: { grants: [after] } }),
    });
    const change = { name: before?.name ?? wish?.name ?? "", after };
    const above = this.#standings.firstAbove(this.#standings.ofActor(by), touchedMembers(before, wish), change);
    return own ?? (above && { forbidden: excessInWords(above.excess, above.name) });
  }

  #groupFault(wish: ConsoleGroup): Wrong | undefined {
    const wrong = groupWishFault(wish);
    if (wrong !== undefined) return wrong;
    const unknown = wish.members.find((member) => this.#access.users.find(member) === undefined);
    return unknown === undefined ? undefined : wrongIn("members", `There is no user ${unknown}.`);
  }

  #fillGroup({ name, privileges: held, networks, members }: ConsoleGroup): void {
    const { groups } = this.#access;
    groups.change(name, { privileges: held.filter(isPrivilege), networks });
    const before = groups.find(name)?.members ?? [];
    for (const user of before) if (!members.includes(user)) groups.leave(name, user);
    for (const user of members) if (!before.includes(user)) groups.join(name, user);
  }

  /** Whether somebody could undo a change from there. */
  #hasAdministrator(from: string): boolean {
    return this.#access.users
      .list()
      .filter((user) => isInForce(user, this.#now()))
      .some((user) => this.rightsOf(user, from).includes("all"));
  }

  /** Makes a change, unless nobody could undo it afterwards from where the caller is. */
  #keepingAdministrator(by: Actor, change: () => void): Wrong | undefined {
    const had = this.#hasAdministrator(by.source);
    const isKept = this.#access.attempt(change, () => !had || this.#hasAdministrator(by.source));
    return isKept ? undefined : { wrong: lastAdministrator };
  }

  #makeKey(user: string, by: Actor): Changed {
    const added = this.#access.keys.addFor(user, undefined, this.#now());
    if (added === undefined) return "missing";
    const { key, secret } = added;
    this.#note(by, "key added", `${shortKey(key)} of ${user}`);
    const [file, fileName] = [`key=${key}\nsecret=${secret}\n`, `${hostname()}_${user}_apikey.txt`];
    return { made: { key, secret, file, fileName } };
  }

  #note(by: Actor, action: string, subject: string): "done" {
    this.#access.audit.note(by, action, subject, this.#now());
    return "done";
  }
}

const toConsoleKey = ({ key, created, lastUsed }: ApiKey) => ({
  id: hashSecret(key),
  beginning: key.slice(0, 12),
  created: created.toISOString(),
  lastUsed: lastUsed?.toISOString() ?? null,
});

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
