import type { DatabaseSync } from "node:sqlite";
import { createApiKeyPart, hashWithSalt, matchesSaltedHash } from "../access/api-key.ts";
import { openSqlite } from "../process/open-sqlite.ts";
import { type Privilege, privileges } from "./privileges.ts";

export type ApiKey = {
  readonly key: string;
  /** What people call it; nothing is decided by it. */
  readonly name: string;
  readonly privileges: readonly Privilege[];
  readonly created: Date;
  readonly revoked?: Date;
};

/** The only moment at which the secret is known. */
export type NewApiKey = ApiKey & { readonly secret: string };

export type Revocation =
  | { readonly kind: "revoked" | "already-revoked"; readonly key: ApiKey }
  | { readonly kind: "unknown" }
  | { readonly kind: "several"; readonly count: number };

/** The keys of the firewall service. Every call reads the file, so what another process wrote counts at once. */
export type KeyStore = {
  readonly add: (wanted: { name: string; privileges: readonly Privilege[]; now: Date }) => NewApiKey;
  /** The key, when it is in force and the secret is its own. */
  readonly check: (key: string, secret: string) => ApiKey | undefined;
  readonly list: () => readonly ApiKey[];
  /** `text` is a key, or the beginning of one if no other key begins so. */
  readonly revoke: (text: string, now: Date) => Revocation;
  readonly close: () => void;
};

/** Forwards only: a released step is never edited, a change is a new step at the end. Times are milliseconds since 1970. */
const migrations: readonly string[] = [
  `
  CREATE TABLE api_keys (
    key TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    secret_hash TEXT NOT NULL,
    privileges TEXT NOT NULL,
    created INTEGER NOT NULL,
    revoked INTEGER
  ) STRICT;
  `,
];

export function openKeys(path: string): KeyStore {
  const database = openSqlite(path, migrations);
  const { insert, byKey, all, beginning, revoke } = prepare(database);
  return {
    add: ({ name, privileges: held, now }) => {
      const [key, secret] = [createApiKeyPart(), createApiKeyPart()];
      insert.run(key, name, hashWithSalt(secret), JSON.stringify(held), now.getTime());
      return { key, secret, name, privileges: held, created: now };
    },
    check: (key, secret) => {
      const row = byKey.get(key) as KeyRow | undefined;
      const matches = matchesSaltedHash(secret, row?.secret_hash);
      return row !== undefined && matches && row.revoked === null ? fromRow(row) : undefined;
    },
    list: () => (all.all() as KeyRow[]).map(fromRow),
    revoke: (text, now) => {
      const rows = text === "" ? [] : (beginning.all(text, text) as KeyRow[]);
      const [row] = rows;
      if (row === undefined) return { kind: "unknown" };
      if (rows.length > 1) return { kind: "several", count: rows.length };
      const changed = revoke.run(now.getTime(), row.key).changes === 1;
      return changed
        ? { kind: "revoked", key: { ...fromRow(row), revoked: now } }
        : { kind: "already-revoked", key: fromRow(row) };
    },
    close: () => database.close(),
  };
}

function prepare(database: DatabaseSync) {
  const columns = "key, name, secret_hash, privileges, created, revoked";
  return {
    insert: database.prepare(
      "INSERT INTO api_keys (key, name, secret_hash, privileges, created) VALUES (?, ?, ?, ?, ?)",
    ),
    byKey: database.prepare(`SELECT ${columns} FROM api_keys WHERE key = ?`),
    all: database.prepare(`SELECT ${columns} FROM api_keys ORDER BY created, key`),
    beginning: database.prepare(`SELECT ${columns} FROM api_keys WHERE substr(key, 1, length(?)) = ?`),
    revoke: database.prepare("UPDATE api_keys SET revoked = ? WHERE key = ? AND revoked IS NULL"),
  };
}

type KeyRow = {
  readonly key: string;
  readonly name: string;
  readonly secret_hash: string;
  readonly privileges: string;
  readonly created: number;
  readonly revoked: number | null;
};

function fromRow(row: KeyRow): ApiKey {
  const held = JSON.parse(row.privileges) as readonly string[];
  return {
    key: row.key,
    name: row.name,
    privileges: privileges.filter((privilege) => held.includes(privilege)),
    created: new Date(row.created),
    ...(row.revoked !== null && { revoked: new Date(row.revoked) }),
  };
}
