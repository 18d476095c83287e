import type { DatabaseSync } from "node:sqlite";
import { checkPassword, hashPassword, type PasswordCost } from "../../access/password.ts";
import { tryTo } from "./audit.ts";
import { isPrivilege, type Privilege, type ShutOut, shutOut } from "./privileges.ts";
import { listText, readList } from "./schema.ts";

export type User = {
  readonly name: string;
  readonly fullName: string;
  readonly disabled: boolean;
  readonly expires?: Date;
  readonly privileges: readonly Privilege[];
  /** The privileges apply only to calls from these networks; empty means from anywhere. */
  readonly networks: readonly string[];
  readonly hasPassword: boolean;
  readonly created: Date;
};

export type UserChange = {
  readonly fullName?: string;
  readonly disabled?: boolean;
  readonly expires?: Date | "never";
  readonly privileges?: readonly Privilege[];
  readonly networks?: readonly string[];
};

export type UserStore = ReturnType<typeof openUsers>;

export function openUsers(database: DatabaseSync, passwordCost?: PasswordCost) {
  const statement = prepare(database);
  const row = (name: string) => statement.byName.get(name) as UserRow | undefined;
  const find = (name: string): User | undefined => {
    const userRow = row(name);
    return userRow && fromRow(userRow);
  };
  return {
    /** False if the name is taken. */
    add: ({ name, now, ...change }: UserChange & { readonly name: string; readonly now: Date }): boolean => {
      const { full_name = "", disabled = 0, expires = null, privileges = "[]", networks = "[]" } = toColumns(change);
      return (
        statement.insert.run(name, full_name, disabled, expires, privileges, networks, now.getTime()).changes === 1
      );
    },
    find,
    list: (): readonly User[] => (statement.all.all() as UserRow[]).map(fromRow),
    /** False if there is no such user. */
    change: (name: string, change: UserChange): boolean => {
      const before = row(name);
      if (before === undefined) return false;
      const { full_name, disabled, expires, privileges, networks } = { ...before, ...toColumns(change) };
      statement.update.run(full_name, disabled, expires, privileges, networks, before.id);
      return true;
    },
    /** Also removes the user's keys. False if there is no such user. */
    remove: (name: string): boolean => statement.remove.run(name).changes === 1,
    setPassword: async (name: string, password: string): Promise<boolean> =>
      statement.setHash.run(await hashPassword(password, passwordCost), name).changes === 1,
    /**
     * The user with that name and password, or why they may not sign in although both are right. Takes as long for
     * unknown names.
     */
    checkPassword: async (name: string, password: string, now: Date): Promise<User | ShutOut | undefined> => {
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
  const columns = "id, name, full_name, password_hash, disabled, expires, privileges, networks, created";
  return {
    insert: database.prepare(
      "INSERT INTO users (name, full_name, disabled, expires, privileges, networks, created) VALUES (?, ?, ?, ?, ?, ?, ?) " +
        "ON CONFLICT (name) DO NOTHING",
    ),
    byName: database.prepare(`SELECT ${columns} FROM users WHERE name = ?`),
    all: database.prepare(`SELECT ${columns} FROM users ORDER BY name`),
    update: database.prepare(
      "UPDATE users SET full_name = ?, disabled = ?, expires = ?, privileges = ?, networks = ? WHERE id = ?",
    ),
    remove: database.prepare("DELETE FROM users WHERE name = ?"),
    renewHash: database.prepare("UPDATE users SET password_hash = ? WHERE name = ? AND password_hash = ?"),
    setHash: database.prepare("UPDATE users SET password_hash = ? WHERE name = ?"),
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
  readonly networks: string;
  readonly created: number;
};

function fromRow(row: UserRow): User {
  return {
    name: row.name,
    fullName: row.full_name,
    disabled: row.disabled === 1,
    ...(row.expires !== null && { expires: new Date(row.expires) }),
    privileges: readList(row.privileges).filter(isPrivilege),
    networks: readList(row.networks),
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
    ...(change.networks !== undefined && { networks: listText(change.networks) }),
  };
}

/** Names are parts of paths, in which `.` and `..` mean something else. */
const nameRule = /^(?!\.{1,2}$)[A-Za-z0-9._@-]{1,64}$/;

/** What is wrong with the name of a new user. */
export const nameFault = (name: unknown): string | undefined =>
  typeof name === "string" && nameRule.test(name)
    ? undefined
    : "A user name can contain only letters, digits and . _ @ -, at most 64 characters, and is not “.” or “..”.";
