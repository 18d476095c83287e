import { join } from "node:path";
import { createPasskeyStore, type PasskeyStore } from "../../access/passkeys/passkey-store.ts";
import type { PasswordCost } from "../../access/password.ts";
import type { SessionStore } from "../../access/session.ts";
import { createSessionStore } from "../../access/session-store.ts";
import { openSqlite } from "../../lib/sqlite/open.ts";
import { sqliteSql } from "../../lib/sqlite/run-sql.ts";
import { type Audit, openAudit } from "./audit.ts";
import { KeyStore } from "./keys.ts";
import { migrations } from "./schema.ts";
import { openSignIns, type SignIns } from "./sign-ins.ts";
import { openUsers, type UserStore } from "./users.ts";

/** Users and keys, in one file that other processes may have open too. */
export type AccessStore = {
  readonly keys: KeyStore;
  readonly users: UserStore;
  readonly audit: Audit;
  readonly signIns: SignIns;
  /** Sessions of the pages. */
  readonly sessions: SessionStore;
  readonly passkeys: PasskeyStore;
  /** Changes with every write, including those of another process: open streams must be checked again. */
  readonly version: () => string;
  readonly close: () => void;
};

/** The file with the users and keys of a data folder; `moor key` and `moor user` open the same one. */
export const keysFile = (dataFolder: string): string => join(dataFolder, "firewall.sqlite");

/** Without `passwordCost`, passwords are hashed at the current cost. */
export function openAccess(path: string, passwordCost?: PasswordCost): AccessStore {
  const database = openSqlite(path, migrations);
  database.exec(smallLog);
  const users = openUsers(database, passwordCost);
  const sql = sqliteSql(database);
  // https://sqlite.org/pragma.html#pragma_data_version counts the writes of others, total_changes() our own.
  const version = database.prepare("SELECT data_version, total_changes() AS own FROM pragma_data_version");
  return {
    version: () => Object.values(version.get() ?? {}).join(" "),
    keys: new KeyStore(database, users),
    users,
    audit: openAudit(database),
    signIns: openSignIns(database),
    sessions: createSessionStore(sql),
    passkeys: createPasskeyStore(sql),
    close: () => database.close(),
  };
}

/** In pages of 4 KB, and in bytes: the write-ahead log must not become many times as large as this small database. */
const smallLog = "PRAGMA wal_autocheckpoint = 250; PRAGMA journal_size_limit = 1048576";
