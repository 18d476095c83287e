import type { DatabaseSync } from "node:sqlite";
import { isPrivilege, type Privilege } from "./privileges.ts";
import { listText, readList } from "./schema.ts";

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
  const statement = prepare(database);
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

function prepare(database: DatabaseSync) {
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
