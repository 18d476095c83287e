import type { DatabaseSync } from "node:sqlite";
import type { SessionStore, StoredSession } from "./session.ts";

/** One migration step, for every service that has pages to sign in to. */
export const sessionTables = `
  CREATE TABLE console_sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    hash TEXT NOT NULL UNIQUE,
    who TEXT NOT NULL,
    source TEXT NOT NULL,
    agent TEXT NOT NULL,
    created INTEGER NOT NULL,
    seen INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX console_sessions_of ON console_sessions (who);

  CREATE TABLE console_links (
    hash TEXT PRIMARY KEY,
    who TEXT NOT NULL,
    expires INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`;

export function openSessionStore(database: DatabaseSync): SessionStore {
  const insert = database.prepare(
    "INSERT INTO console_sessions (hash, who, source, agent, created, seen) VALUES (?, ?, ?, ?, ?, ?) RETURNING *",
  );
  const byHash = database.prepare("SELECT * FROM console_sessions WHERE hash = ?");
  const of = database.prepare("SELECT * FROM console_sessions WHERE who = ? ORDER BY seen DESC, id DESC");
  const seen = database.prepare("UPDATE console_sessions SET seen = ? WHERE id = ?");
  const remove = database.prepare("DELETE FROM console_sessions WHERE who = ? AND id = ?");
  const removeAll = database.prepare("DELETE FROM console_sessions WHERE who = ?");
  const insertLink = database.prepare("INSERT INTO console_links (hash, who, expires) VALUES (?, ?, ?)");
  const takeLink = database.prepare("DELETE FROM console_links WHERE hash = ? RETURNING who, expires");
  const dropSessions = database.prepare("DELETE FROM console_sessions WHERE seen < ?");
  const dropLinks = database.prepare("DELETE FROM console_links WHERE expires < ?");
  return {
    add: async ({ hash, who, from, agent, created }) =>
      fromRow(insert.get(hash, who, from, agent, created, created) as SessionRow),
    byHash: async (hash) => {
      const row = byHash.get(hash) as SessionRow | undefined;
      return row && fromRow(row);
    },
    of: async (who) => (of.all(who) as SessionRow[]).map(fromRow),
    noteSeen: async (id, now) => void seen.run(now, id),
    remove: async (who, id) => remove.run(who, id).changes === 1,
    removeAll: async (who) => void removeAll.run(who),
    addLink: async ({ hash, who, expires }) => void insertLink.run(hash, who, expires),
    takeLink: async (hash) => {
      const row = takeLink.get(hash) as { who: string; expires: number } | undefined;
      return row && { who: row.who, expires: row.expires };
    },
    dropOld: async ({ seenBefore, now }) => {
      dropSessions.run(seenBefore);
      dropLinks.run(now);
    },
  };
}

type SessionRow = Omit<StoredSession, "from"> & { readonly source: string };

const fromRow = ({ id, hash, who, source, agent, created, seen }: SessionRow): StoredSession => ({
  id,
  hash,
  who,
  from: source,
  agent,
  created,
  seen,
});
