import { type Sql, sql } from "../lib/sqlite/sql.ts";
import { passkeyTable } from "./passkeys/passkey-store.ts";
import type { SessionRole, SessionStore, StoredSession } from "./session.ts";

/** One migration step on SQLite, for all services that have pages to sign in to. */
export const sessionTables = `
  CREATE TABLE console_sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    hash TEXT NOT NULL UNIQUE,
    who TEXT NOT NULL,
    source TEXT NOT NULL,
    agent TEXT NOT NULL,
    created INTEGER NOT NULL,
    seen INTEGER NOT NULL,
    role TEXT,
    ticket TEXT,
    confirmed INTEGER,
    asked INTEGER
  ) STRICT;
  CREATE INDEX console_sessions_of ON console_sessions (who);

  CREATE TABLE console_links (
    hash TEXT PRIMARY KEY,
    who TEXT NOT NULL,
    expires INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  ${passkeyTable}
`;

/** Wraps a store; `ended` is called after every call that ends sessions. */
export const tellingEnds = (store: SessionStore, ended: () => void): SessionStore => ({
  ...store,
  remove: async (who, id) => {
    const removed = await store.remove(who, id);
    ended();
    return removed;
  },
  removeAll: async (who) => {
    await store.removeAll(who);
    ended();
  },
  removeTickets: async (patterns) => {
    const removed = await store.removeTickets(patterns);
    ended();
    return removed;
  },
});

export function createSessionStore({ read, write }: Pick<Sql, "read" | "write">): SessionStore {
  return {
    add: async ({ hash, who, from, agent, created, role = null, ticket }) => {
      const { sealed = null, confirmed = null, asked = null } = ticket ?? {};
      const [added] = await write<SessionRow>(
        sql`INSERT INTO console_sessions (hash, who, source, agent, created, seen, role, ticket, confirmed, asked)
            VALUES (${hash}, ${who}, ${from}, ${agent}, ${created}, ${created}, ${role}, ${sealed}, ${confirmed}, ${asked})
            RETURNING *`,
      );
      if (added === undefined) throw new Error("inserting a session returned no row");
      return fromRow(added);
    },
    byHash: async (hash) => {
      const [row] = await read<SessionRow>(sql`SELECT * FROM console_sessions WHERE hash = ${hash}`);
      return row && fromRow(row);
    },
    of: async (who) => {
      const theirs = sql`SELECT * FROM console_sessions WHERE who = ${who} ORDER BY seen DESC, id DESC`;
      return (await read<SessionRow>(theirs)).map(fromRow);
    },
    noteSeen: async (id, now) => {
      await write(sql`UPDATE console_sessions SET seen = ${now} WHERE id = ${id}`);
    },
    claimCheck: async (id, { before, now }) => {
      const claimed = sql`UPDATE console_sessions SET asked = ${now} WHERE id = ${id} AND asked = ${before} RETURNING id`;
      return (await write(claimed)).length === 1;
    },
    noteConfirmed: async (id, { sealed, confirmed }) => {
      await write(sql`UPDATE console_sessions SET ticket = ${sealed}, confirmed = ${confirmed} WHERE id = ${id}`);
    },
    remove: async (who, id) =>
      (await write(sql`DELETE FROM console_sessions WHERE who = ${who} AND id = ${id} RETURNING id`)).length === 1,
    removeAll: async (who) => {
      await write(sql`DELETE FROM console_sessions WHERE who = ${who}`);
    },
    removeTickets: async (patterns) => {
      let removed = 0;
      for (const pattern of patterns)
        removed += (await write(sql`DELETE FROM console_sessions WHERE ticket LIKE ${pattern} RETURNING id`)).length;
      return removed;
    },
    addLink: async ({ hash, who, expires }) => {
      await write(sql`INSERT INTO console_links (hash, who, expires) VALUES (${hash}, ${who}, ${expires})`);
    },
    takeLink: async (hash) => {
      const taken = sql`DELETE FROM console_links WHERE hash = ${hash} RETURNING who, expires`;
      const [row] = await write<{ readonly who: string; readonly expires: number }>(taken);
      return row && { who: row.who, expires: row.expires };
    },
    dropOld: async ({ seenBefore, confirmedBefore, now }) => {
      await write(sql`DELETE FROM console_sessions WHERE seen < ${seenBefore} OR confirmed < ${confirmedBefore}`);
      await write(sql`DELETE FROM console_links WHERE expires < ${now}`);
    },
  };
}

type SessionRow = Omit<StoredSession, "from" | "role" | "ticket"> & {
  readonly source: string;
  readonly role: SessionRole | null;
  readonly ticket: string | null;
  readonly confirmed: number | null;
  readonly asked: number | null;
};

const fromRow = ({ id, hash, who, source, agent, created, seen, ...row }: SessionRow): StoredSession => ({
  id,
  hash,
  who,
  from: source,
  agent,
  created,
  seen,
  role: row.role ?? undefined,
  ticket: ticketOf(row),
});

const ticketOf = ({ ticket, confirmed, asked }: Pick<SessionRow, "ticket" | "confirmed" | "asked">) =>
  ticket === null || confirmed === null || asked === null ? undefined : { sealed: ticket, confirmed, asked };
