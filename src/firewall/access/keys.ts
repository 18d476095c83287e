import type { DatabaseSync } from "node:sqlite";
import { createApiKeyPart, hashWithSalt, matchesSaltedHash } from "../../access/secret.ts";
import { tryTo } from "./audit.ts";
import {
  type CallOrigin,
  isInForce,
  isPrivilege,
  type Privilege,
  type PrivilegeHolder,
  privilegesOf,
  rightsOf,
  type ShutOut,
  shutOut,
} from "./privileges.ts";
import { listText, readList } from "./schema.ts";
import type { UserStore } from "./users.ts";

export type ApiKey = {
  readonly key: string;
  /** The user that the key belongs to. */
  readonly name: string;
  /**
   * What the key allows for this caller: its user's privileges, within the key's own limit. In lists: for any caller.
   */
  readonly privileges: readonly Privilege[];
  readonly created: Date;
  /** Up to five minutes too early; absent if it was never used. */
  readonly lastUsed?: Date;
  readonly revoked?: Date;
};

/** The only moment at which the secret is known. */
export type NewApiKey = ApiKey & { readonly secret: string };

export type Revocation =
  | { readonly kind: "revoked" | "already-revoked"; readonly key: ApiKey }
  | { readonly kind: "unknown" | "too-short" }
  | { readonly kind: "several"; readonly count: number };

export type KeyRefusal =
  | { readonly kind: "unknown" }
  /** The secret is right; `name` is the user's. */
  | { readonly kind: ShutOut | "revoked"; readonly name: string };

/** Milliseconds. */
const usePrecision = 5 * 60_000;

/** The beginning of a key, for lists and the audit log. */
export const shortKey = (key: string): string => `${key.slice(0, 12)}…`;

/**
 * The keys of the firewall service. Every call reads the file, so changes by another process take effect immediately.
 */
export class KeyStore {
  readonly #statement: ReturnType<typeof prepare>;
  readonly #users: UserStore;

  constructor(database: DatabaseSync, users: UserStore) {
    this.#statement = prepare(database);
    this.#users = users;
  }

  /**
   * A key of the user `name`, limited to `privileges`. The user is created if missing, and gets those of the privileges
   * they lack.
   */
  add({ name, privileges, now }: { name: string; privileges: readonly Privilege[]; now: Date }): NewApiKey {
    this.#users.add({ name, now });
    const userPrivileges = this.#users.find(name)?.privileges ?? [];
    const needed = privileges.filter((privilege) => !userPrivileges.includes(privilege));
    if (needed.length > 0) this.#users.change(name, { privileges: [...userPrivileges, ...needed] });
    const made = this.addFor(name, privileges, now);
    if (made === undefined) throw new Error(`the user ${name} was removed while a key was created for them`);
    return made;
  }

  /** A key of an existing user; without a limit it allows whatever its user may do, now or later. */
  addFor(user: string, limit: readonly Privilege[] | undefined, now: Date): NewApiKey | undefined {
    const [key, secret] = [createApiKeyPart(), createApiKeyPart()];
    const limitText = limit === undefined ? null : listText(limit);
    this.#statement.insert.run(key, hashWithSalt(secret), limitText, now.getTime(), user);
    const row = this.#rowOf(key);
    return row && { ...this.#shown(row), secret };
  }

  /** The key, if the secret matches and neither the key nor its user is revoked, disabled or expired. */
  check(key: string, secret: string, caller: CallOrigin = { now: new Date() }): ApiKey | undefined {
    const row = this.#rowOf(key);
    return matchesSaltedHash(secret, row?.secret_hash) ? this.#inForce(row, caller) : undefined;
  }

  /** Why `check` refuses, for the log only. A wrong secret is not distinguished from an unknown key. */
  whyRefused(key: string, secret: string, now: Date): KeyRefusal {
    const row = this.#rowOf(key);
    if (!matchesSaltedHash(secret, row?.secret_hash) || row === undefined) return { kind: "unknown" };
    const kind = row.revoked === null ? shutOut(this.#holderOf(row), now) : "revoked";
    return kind === undefined ? { kind: "unknown" } : { kind, name: row.name };
  }

  /** Like `check`, but without the secret, for a caller who has already sent it. */
  stillGood(key: string, caller: CallOrigin): ApiKey | undefined {
    return this.#inForce(this.#rowOf(key), caller);
  }

  list(): readonly ApiKey[] {
    return (this.#statement.all.all() as KeyRow[]).map((row) => this.#shown(row));
  }

  /** `text` is a key, or at least eight characters of its beginning, if no other key begins with them. */
  revoke(text: string, now: Date): Revocation {
    const rows = text === "" ? [] : (this.#statement.beginning.all(text, text) as KeyRow[]);
    const [row] = rows;
    if (row === undefined) return { kind: "unknown" };
    if (rows.length > 1) return { kind: "several", count: rows.length };
    if (row.key !== text && text.length < shortestBeginning) return { kind: "too-short" };
    const changed = this.#statement.revoke.run(now.getTime(), row.key).changes === 1;
    return {
      kind: changed ? "revoked" : "already-revoked",
      key: { ...this.#shown(row), ...(changed && { revoked: now }) },
    };
  }

  #rowOf(key: string): KeyRow | undefined {
    return this.#statement.byKey.get(key) as KeyRow | undefined;
  }

  #holderOf(row: KeyRow): PrivilegeHolder {
    return this.#users.find(row.name) ?? removed;
  }

  #shown(row: KeyRow): ApiKey {
    return keyFromRow(row, privilegesOf(this.#holderOf(row), limitOf(row)));
  }

  #inForce(row: KeyRow | undefined, caller: CallOrigin): ApiKey | undefined {
    if (row === undefined || row.revoked !== null) return undefined;
    const holder = this.#holderOf(row);
    if (!isInForce(holder, caller.now)) return undefined;
    this.#noteUse(row, caller.now.getTime());
    return keyFromRow(row, rightsOf(holder, limitOf(row), caller));
  }

  #noteUse({ key, last_used }: KeyRow, now: number): void {
    // Not for every call, because each write waits for the disk. A time in the future dates from before the clock was
    // set back.
    if (last_used !== null && Math.abs(now - last_used) < usePrecision) return;
    tryTo(() => this.#statement.use.run(now, key));
  }
}

const keyFromRow = (row: KeyRow, privileges: readonly Privilege[]): ApiKey => ({
  key: row.key,
  name: row.name,
  privileges,
  created: new Date(row.created),
  ...(row.last_used !== null && { lastUsed: new Date(row.last_used) }),
  ...(row.revoked !== null && { revoked: new Date(row.revoked) }),
});

/** For a key whose user was removed by another process after the key was read. */
const removed: PrivilegeHolder = { disabled: true, privileges: [], networks: [] };

/** A typo must not revoke a key. */
const shortestBeginning = 8;

function prepare(database: DatabaseSync) {
  const from =
    "SELECT key, secret_hash, privilege_limit, api_keys.created, last_used, revoked, name FROM api_keys JOIN users ON users.id = user_id";
  return {
    insert: database.prepare(
      "INSERT INTO api_keys (key, secret_hash, privilege_limit, created, user_id) " +
        "SELECT ?, ?, ?, ?, id FROM users WHERE name = ?",
    ),
    byKey: database.prepare(`${from} WHERE key = ?`),
    all: database.prepare(`${from} ORDER BY api_keys.created, key`),
    beginning: database.prepare(`${from} WHERE substr(key, 1, length(?)) = ?`),
    use: database.prepare("UPDATE api_keys SET last_used = ? WHERE key = ?"),
    revoke: database.prepare("UPDATE api_keys SET revoked = ? WHERE key = ? AND revoked IS NULL"),
  };
}

type KeyRow = {
  readonly key: string;
  readonly secret_hash: string;
  readonly privilege_limit: string | null;
  readonly created: number;
  readonly last_used: number | null;
  readonly revoked: number | null;
  readonly name: string;
};

const limitOf = (row: KeyRow): readonly Privilege[] | undefined =>
  row.privilege_limit === null ? undefined : readList(row.privilege_limit).filter(isPrivilege);
