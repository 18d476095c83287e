import { sessionTables } from "../../access/session-store.ts";

/**
 * Forwards only: a released step is never edited; a change is a new step at the end. Times are milliseconds since 1970.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE users (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    full_name TEXT NOT NULL,
    password_hash TEXT,
    disabled INTEGER NOT NULL,
    expires INTEGER,
    privileges TEXT NOT NULL,
    networks TEXT NOT NULL,
    created INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE api_keys (
    key TEXT PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    secret_hash TEXT NOT NULL,
    privilege_limit TEXT,
    created INTEGER NOT NULL,
    revoked INTEGER,
    last_used INTEGER
  ) STRICT;
  CREATE INDEX keys_of_user ON api_keys (user_id);
  CREATE TABLE audit (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    source TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL
  ) STRICT;
  CREATE TABLE sign_ins (
    id INTEGER PRIMARY KEY,
    first INTEGER NOT NULL,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    source TEXT NOT NULL,
    household TEXT NOT NULL,
    action TEXT NOT NULL,
    failed INTEGER NOT NULL,
    times INTEGER NOT NULL
  ) STRICT;
  ${sessionTables}
  `,
];

/** A column with a list, such as privileges. Readers skip those that only a newer moor knows. */
export const listText = (list: readonly string[]): string => JSON.stringify(list);
export const readList = (text: string): readonly string[] => JSON.parse(text) as readonly string[];
