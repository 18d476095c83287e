import type { Generated, Selectable } from "kysely";
import type { RunSql, SqlText } from "../process/database/sql-text.ts";
import type { SessionStore, StoredSession } from "./session.ts";

export type SessionTables = {
  readonly console_sessions: {
    readonly id: Generated<number>;
    readonly hash: string;
    readonly who: string;
    readonly source: string;
    readonly agent: string;
    readonly created: number;
    readonly seen: number;
  };
  readonly console_links: { readonly hash: string; readonly who: string; readonly expires: number };
};

export function createSessionStore({ db }: SqlText<SessionTables>, run: RunSql): SessionStore {
  return {
    add: async ({ hash, who, from, agent, created }) => {
      const row = { hash, who, source: from, agent, created, seen: created };
      const [added] = await run(db.insertInto("console_sessions").values(row).returningAll().compile());
      if (added === undefined) throw new Error("the session just written was not given back");
      return fromRow(added);
    },
    byHash: async (hash) => {
      const [row] = await run(db.selectFrom("console_sessions").selectAll().where("hash", "=", hash).compile());
      return row && fromRow(row);
    },
    of: async (who) => {
      const theirs = db.selectFrom("console_sessions").selectAll().where("who", "=", who);
      return (await run(theirs.orderBy("seen", "desc").orderBy("id", "desc").compile())).map(fromRow);
    },
    noteSeen: async (id, now) => {
      await run(db.updateTable("console_sessions").set({ seen: now }).where("id", "=", id).compile());
    },
    remove: async (who, id) => {
      const one = db.deleteFrom("console_sessions").where("who", "=", who).where("id", "=", id);
      return (await run(one.returning("id").compile())).length === 1;
    },
    removeAll: async (who) => {
      await run(db.deleteFrom("console_sessions").where("who", "=", who).compile());
    },
    addLink: async ({ hash, who, expires }) => {
      await run(db.insertInto("console_links").values({ hash, who, expires }).compile());
    },
    takeLink: async (hash) => {
      const taken = db.deleteFrom("console_links").where("hash", "=", hash).returning(["who", "expires"]);
      const [row] = await run(taken.compile());
      return row && { who: row.who, expires: row.expires };
    },
    dropOld: async ({ seenBefore, now }) => {
      await run(db.deleteFrom("console_sessions").where("seen", "<", seenBefore).compile());
      await run(db.deleteFrom("console_links").where("expires", "<", now).compile());
    },
  };
}

const fromRow = (row: Selectable<SessionTables["console_sessions"]>): StoredSession => {
  const { id, hash, who, source: from, agent, created, seen } = row;
  return { id, hash, who, from, agent, created, seen };
};
