import type { DatabaseSync } from "node:sqlite";
import { checkPassword, hashPassword, type PasswordCost } from "../../access/password.ts";
import { tryTo } from "./audit.ts";
import { type Grant, type Holder, isPrivilege, type Privilege, type ShutOut, shutOut } from "./privileges.ts";
import { listText, readList } from "./schema.ts";

export type User = {
  readonly name: string;
  readonly fullName: string;
  readonly disabled: boolean;
  readonly expires?: Date;
  /** Given to the user directly; those of their groups come on top. */
  readonly privileges: readonly Privilege[];
  readonly groups: readonly string[];
  readonly hasPassword: boolean;
  readonly created: Date;
};

export type UserChange = {
  readonly fullName?: string;
  readonly disabled?: boolean;
  readonly expires?: Date | "never";
  readonly privileges?: readonly Privilege[];
};

export type UserStore = {
  /** False if the name is taken. */
  readonly add: (wanted: UserChange & { readonly name: string; readonly now: Date }) => boolean;
  readonly find: (name: string) => User | undefined;
  /** What a user has directly and through groups. */
  readonly holder: (name: string) => Holder | undefined;
  readonly list: () => readonly User[];
  /** False if there is no such user. */
  readonly change: (name: string, change: UserChange) => boolean;
  /** Also removes the user's keys. False if there is no such user. */
  readonly remove: (name: string) => boolean;
  readonly setPassword: (name: string, password: string) => Promise<boolean>;
  /** The user with that name and password, or why they may not sign in although both are right. Takes as long for unknown names. */
  readonly checkPassword: (name: string, password: string, now: Date) => Promise<User | ShutOut | undefined>;
};

export function openUsers(database: DatabaseSync, passwordCost?: PasswordCost): UserStore {
  const statement = prepare(database);
  const groupsOf = (id: number) => (statement.groupsOf.all(id) as { name: string }[]).map(({ name }) => name);
  const grantsOf = (id: number): readonly Grant[] =>
    (statement.grantsOf.all(id) as { privileges: string; networks: string }[]).map(({ privileges, networks }) => ({
      privileges: readList(privileges).filter(isPrivilege),
      networks: readList(networks),
    }));
  const row = (name: string) => statement.byName.get(name) as UserRow | undefined;
  const find = (name: string): User | undefined => {
    const found = row(name);
    return found && fromRow(found, groupsOf(found.id));
  };
  return {
    add: ({ name, now, ...change }) => {
      const { full_name, disabled, expires, privileges } = toColumns(change);
      return (
        statement.insert.run(name, full_name ?? "", disabled ?? 0, expires ?? null, privileges ?? "[]", now.getTime())
          .changes === 1
      );
    },
    find,
    holder: (name) => {
      const found = row(name);
      return found && { ...fromRow(found, []), groups: grantsOf(found.id) };
    },
    list: () => (statement.all.all() as UserRow[]).map((each) => fromRow(each, groupsOf(each.id))),
    change: (name, change) => {
      const before = row(name);
      if (before === undefined) return false;
      const { full_name, disabled, expires, privileges } = { ...before, ...toColumns(change) };
      statement.update.run(full_name, disabled, expires, privileges, before.id);
      return true;
    },
    remove: (name) => statement.remove.run(name).changes === 1,
    setPassword: async (name, password) =>
      statement.setHash.run(await hashPassword(password, passwordCost), name).changes === 1,
    checkPassword: async (name, password, now) => {
      const stored = row(name)?.password_hash ?? undefined;
      const { matches, renewed } = await checkPassword(password, stored, passwordCost);
      // If it cannot be written now, the old hash stays valid.
      if (renewed !== undefined) tryTo(() => statement.renewHash.run(renewed, name, stored ?? ""));
      const user = find(name);
      return matches && user !== undefined ? (shutOut(user, now) ?? user) : undefined;
    },
  };
}

function prepare(database: DatabaseSync) {
  const columns = "id, name, full_name, password_hash, disabled, expires, privileges, created";
  return {
    insert: database.prepare(
      "INSERT INTO users (name, full_name, disabled, expires, privileges, created) VALUES (?, ?, ?, ?, ?, ?) " +
        "ON CONFLICT (name) DO NOTHING",
    ),
    byName: database.prepare(`SELECT ${columns} FROM users WHERE name = ?`),
    all: database.prepare(`SELECT ${columns} FROM users ORDER BY name`),
    update: database.prepare("UPDATE users SET full_name = ?, disabled = ?, expires = ?, privileges = ? WHERE id = ?"),
    remove: database.prepare("DELETE FROM users WHERE name = ?"),
    renewHash: database.prepare("UPDATE users SET password_hash = ? WHERE name = ? AND password_hash = ?"),
    setHash: database.prepare("UPDATE users SET password_hash = ? WHERE name = ?"),
    grantsOf: database.prepare(
      "SELECT privileges, networks FROM groups JOIN members ON members.group_id = groups.id WHERE user_id = ?",
    ),
    groupsOf: database.prepare(
      "SELECT name FROM groups JOIN members ON members.group_id = groups.id WHERE user_id = ? ORDER BY name",
    ),
  };
}

type UserRow = {
  readonly id: number;
  readonly name: string;
  readonly full_name: string;
  readonly password_hash: string | null;
  readonly disabled: number;
  readonly expires: number | null;
  readonly privileges: string;
  readonly created: number;
};

function fromRow(row: UserRow, groups: readonly string[]): User {
  return {
    name: row.name,
    fullName: row.full_name,
    disabled: row.disabled === 1,
    ...(row.expires !== null && { expires: new Date(row.expires) }),
    privileges: readList(row.privileges).filter(isPrivilege),
    groups,
    hasPassword: row.password_hash !== null,
    created: new Date(row.created),
  };
}

function toColumns(change: UserChange): Partial<Omit<UserRow, "id" | "name" | "password_hash" | "created">> {
  return {
    ...(change.fullName !== undefined && { full_name: change.fullName }),
    ...(change.disabled !== undefined && { disabled: Number(change.disabled) }),
    ...(change.expires !== undefined && { expires: change.expires === "never" ? null : change.expires.getTime() }),
    ...(change.privileges !== undefined && { privileges: listText(change.privileges) }),
  };
}

/** Names are parts of paths, in which `.` and `..` mean something else. */
const nameRule = /^(?!\.{1,2}$)[A-Za-z0-9._@-]{1,64}$/;

/** What is wrong with the name of a new user or group. */
export function nameFault(what: "user" | "group", name: unknown): string | undefined {
  if (typeof name === "string" && nameRule.test(name)) return undefined;
  return `A ${what} name can contain only letters, digits and . _ @ -, at most 64 characters, and is not “.” or “..”.`;
}

export type Group = {
  readonly name: string;
  readonly privileges: readonly Privilege[];
  /** Its privileges apply only to calls from these networks; empty means from anywhere. */
  readonly networks: readonly string[];
  readonly members: readonly string[];
  readonly created: Date;
};

export type GroupChange = {
  readonly privileges?: readonly Privilege[];
  readonly networks?: readonly string[];
};

export type GroupStore = {
  /** False if the name is taken. */
  readonly add: (wanted: GroupChange & { readonly name: string; readonly now: Date }) => boolean;
  readonly list: () => readonly Group[];
  readonly find: (name: string) => Group | undefined;
  /** False if there is no such group. */
  readonly change: (name: string, change: GroupChange) => boolean;
  readonly remove: (name: string) => boolean;
  /** False if there is no such group or user, or nothing to change. */
  readonly join: (name: string, user: string) => boolean;
  readonly leave: (name: string, user: string) => boolean;
};

export function openGroups(database: DatabaseSync): GroupStore {
  const statement = prepareGroups(database);
  const fromRow = (row: GroupRow): Group => ({
    name: row.name,
    privileges: readList(row.privileges).filter(isPrivilege),
    networks: readList(row.networks),
    members: (statement.members.all(row.id) as { name: string }[]).map(({ name }) => name),
    created: new Date(row.created),
  });
  const row = (name: string) => statement.byName.get(name) as GroupRow | undefined;
  return {
    add: ({ name, privileges = [], networks = [], now }) =>
      statement.insert.run(name, listText(privileges), listText(networks), now.getTime()).changes === 1,
    list: () => (statement.all.all() as GroupRow[]).map(fromRow),
    find: (name) => {
      const found = row(name);
      return found && fromRow(found);
    },
    change: (name, { privileges, networks }) => {
      const before = row(name);
      if (before === undefined) return false;
      statement.update.run(
        privileges === undefined ? before.privileges : listText(privileges),
        networks === undefined ? before.networks : listText(networks),
        before.id,
      );
      return true;
    },
    remove: (name) => statement.remove.run(name).changes === 1,
    join: (name, user) => statement.join.run(name, user).changes === 1,
    leave: (name, user) => statement.leave.run(name, user).changes === 1,
  };
}

type GroupRow = {
  readonly id: number;
  readonly name: string;
  readonly privileges: string;
  readonly networks: string;
  readonly created: number;
};

function prepareGroups(database: DatabaseSync) {
  const columns = "id, name, privileges, networks, created";
  return {
    insert: database.prepare(
      "INSERT INTO groups (name, privileges, networks, created) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO NOTHING",
    ),
    all: database.prepare(`SELECT ${columns} FROM groups ORDER BY name`),
    byName: database.prepare(`SELECT ${columns} FROM groups WHERE name = ?`),
    members: database.prepare(
      "SELECT name FROM users JOIN members ON members.user_id = users.id WHERE group_id = ? ORDER BY name",
    ),
    update: database.prepare("UPDATE groups SET privileges = ?, networks = ? WHERE id = ?"),
    remove: database.prepare("DELETE FROM groups WHERE name = ?"),
    join: database.prepare(
      "INSERT INTO members (group_id, user_id) SELECT groups.id, users.id FROM groups, users " +
        "WHERE groups.name = ? AND users.name = ? ON CONFLICT DO NOTHING",
    ),
    leave: database.prepare(
      "DELETE FROM members WHERE group_id = (SELECT id FROM groups WHERE name = ?) " +
        "AND user_id = (SELECT id FROM users WHERE name = ?)",
    ),
  };
}
