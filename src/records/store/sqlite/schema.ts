import type { MigrationStep } from "../../../process/database/migration-steps.ts";
import { reversedNames, zoneGrants } from "../schema-neighbours.ts";
import { consoleTables } from "./console.ts";
import { transferTables } from "./schema-transfer.ts";

/**
 * Forwards only: a released step is never edited, a change is a new step at the end. `PRAGMA user_version` counts the steps
 * that a file has taken.
 *
 * A set is one row: `records` is the JSON text of its records, so that a set is read and replaced whole. `record_ids` finds
 * the set that holds a v1 record. The serial inside a stored SOA is not used: the zone's own column is the only one.
 * `zone_counts` is kept by the database itself: counting a million zones for every first page would take longer than the page.
 * `settings` and `marks` are JSON texts of what is rarely there and never searched for. `changes` and
 * `actions` have no foreign keys: they outlive the zone. `once_keys` holds what was answered to requests that may be sent
 * twice. `secrets` holds what the service keeps from its clients; each is made when it is first needed.
 */
export const migrations: readonly MigrationStep[] = [
  `
  CREATE TABLE accounts (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE tokens (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL REFERENCES accounts,
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    scope TEXT NOT NULL,
    created INTEGER NOT NULL,
    revoked INTEGER,
    last_used INTEGER,
    uses INTEGER NOT NULL DEFAULT 0
  ) STRICT;

  CREATE TABLE zones (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    account INTEGER NOT NULL REFERENCES accounts,
    name TEXT NOT NULL UNIQUE,
    settings TEXT NOT NULL,
    serial INTEGER NOT NULL,
    record_count INTEGER NOT NULL,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX zones_of_account ON zones (account, number);

  CREATE TABLE departed_zones (
    name TEXT PRIMARY KEY,
    serial INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE rrsets (
    zone INTEGER NOT NULL REFERENCES zones,
    owner TEXT NOT NULL,
    type TEXT NOT NULL,
    ttl INTEGER,
    records TEXT NOT NULL,
    marks TEXT,
    PRIMARY KEY (zone, owner, type)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE record_ids (
    id TEXT PRIMARY KEY,
    zone INTEGER NOT NULL,
    owner TEXT NOT NULL,
    type TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE changes (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL,
    zone INTEGER NOT NULL,
    zone_name TEXT NOT NULL,
    serial INTEGER NOT NULL,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    change TEXT NOT NULL
  ) STRICT;
  CREATE INDEX changes_of_zone ON changes (zone, position, serial);

  CREATE TABLE actions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL,
    zone INTEGER NOT NULL,
    zone_name TEXT NOT NULL,
    command TEXT NOT NULL,
    at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE once_keys (
    actor TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    at INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    PRIMARY KEY (actor, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX once_keys_by_age ON once_keys (at);
  `,
  consoleTables,
  transferTables,
  {
    sql: `
    CREATE TABLE zone_counts (
      account INTEGER PRIMARY KEY REFERENCES accounts,
      zones INTEGER NOT NULL
    ) STRICT;
    INSERT INTO zone_counts SELECT account, count(*) FROM zones GROUP BY account;
    CREATE TRIGGER zone_added AFTER INSERT ON zones BEGIN
      INSERT INTO zone_counts VALUES (NEW.account, 1) ON CONFLICT DO UPDATE SET zones = zones + 1;
    END;
    CREATE TRIGGER zone_removed AFTER DELETE ON zones BEGIN
      UPDATE zone_counts SET zones = zones - 1 WHERE account = OLD.account;
    END;
    `,
    oldest: 3,
  },
  { sql: "SELECT 'this step is only about PostgreSQL'", oldest: 3 },
  { sql: `${reversedNames}${zoneGrants}`, oldest: 3 },
  {
    sql: `
    ALTER TABLE actions ADD COLUMN actor TEXT;
    CREATE TABLE secrets (
      name TEXT PRIMARY KEY,
      value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    `,
    oldest: 3,
  },
  // Whoever reads one account's part of the log must not read everybody's.
  { sql: "CREATE INDEX changes_of_account ON changes (account, position)", oldest: 3 },
];
