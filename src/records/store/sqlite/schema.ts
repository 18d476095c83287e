import { sessionTables } from "../../../access/session-store.ts";
import type { MigrationStep } from "../../../lib/sqlite/migration-steps.ts";

/**
 * The labels of a name from the last to the first (core/names/zone-neighbours.ts); names of zones need no escapes.
 * `ORDER BY` inside of the call would need SQLite 3.44: then the sqlite3 of Debian 12 could not open the file at all.
 */
const reversed = (name: string): string =>
  `(SELECT group_concat(value, ' ') FROM (SELECT value FROM json_each('["' || replace(${name}, '.', '","') || '"]') ` +
  "ORDER BY key DESC LIMIT 256))";

/**
 * A set is one row: `records` is the JSON text of its records, because a set is always read and replaced as a whole.
 * `record_ids` finds the set that contains a record of the v1 API. The serial inside a stored SOA is not used, only the
 * zone's column. `settings` and `marks` are JSON texts; of their values, only a zone's mode and labels are searched
 * for.
 *
 * Triggers maintain `zones.reversed`, for finding zones below a name, and `zone_counts`: counting a million zones for
 * every first page would take longer than the page.
 *
 * `changes` and `actions` have no foreign keys, because they outlive the zone. An action has `running_until` while its
 * write goes on: if its process dies, nobody extends that time. While it `publishes` a serial at a provider, it has no
 * such end. `once_keys` holds the answers to requests that may be
 * repeated. `secrets` holds secrets of the service, each created when it is first needed.
 *
 * Whole zones are signed, unsigned and deleted in short steps. `zones.names_at` says under which number the signed
 * names of a zone are stored (`signed_names.zone`); numbers are shared with those of zones. `leftovers` lists numbers
 * under which rows are stored that no zone refers to: names signed aside, old names, and the sets of
 * deleted zones. So `rrsets` and `signed_names` have no foreign key.
 *
 * A grant by the owner of a zone is deleted with the zone; a grant without a zone is the operator's.
 */
const tables = `
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
  CREATE INDEX tokens_of_account ON tokens (account, id);

  CREATE TABLE zones (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    account INTEGER NOT NULL REFERENCES accounts,
    name TEXT NOT NULL UNIQUE,
    settings TEXT NOT NULL,
    serial INTEGER NOT NULL,
    record_count INTEGER NOT NULL,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    names_at INTEGER,
    reversed TEXT
  ) STRICT;
  CREATE INDEX zones_of_account ON zones (account, number);
  CREATE INDEX zones_reversed ON zones (reversed, account);
  CREATE INDEX zones_names_at ON zones (names_at) WHERE names_at IS NOT NULL;
  CREATE INDEX secondary_zones ON zones (number) WHERE settings ->> 'mode' = 'secondary';
  CREATE INDEX secondary_zones_of_account ON zones (account, number) WHERE settings ->> 'mode' = 'secondary';
  CREATE TRIGGER zone_named AFTER INSERT ON zones BEGIN
    UPDATE zones SET reversed = ${reversed("NEW.name")} WHERE number = NEW.number;
  END;
  CREATE TRIGGER zone_renamed AFTER UPDATE OF name ON zones WHEN NEW.name <> OLD.name BEGIN
    UPDATE zones SET reversed = ${reversed("NEW.name")} WHERE number = NEW.number;
  END;

  CREATE TABLE zone_counts (
    account INTEGER PRIMARY KEY REFERENCES accounts,
    zones INTEGER NOT NULL
  ) STRICT;
  CREATE TRIGGER zone_added AFTER INSERT ON zones BEGIN
    INSERT INTO zone_counts VALUES (NEW.account, 1) ON CONFLICT DO UPDATE SET zones = zones + 1;
  END;
  CREATE TRIGGER zone_removed AFTER DELETE ON zones BEGIN
    UPDATE zone_counts SET zones = zones - 1 WHERE account = OLD.account;
  END;

  CREATE TABLE departed_zones (
    name TEXT PRIMARY KEY,
    serial INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE zone_grants (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    zone INTEGER REFERENCES zones ON DELETE CASCADE,
    account INTEGER NOT NULL REFERENCES accounts,
    name TEXT NOT NULL,
    actor TEXT NOT NULL,
    created INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX zone_grants_once ON zone_grants (account, name, coalesce(zone, 0));
  CREATE INDEX zone_grants_of_zone ON zone_grants (zone);

  CREATE TABLE rrsets (
    zone INTEGER NOT NULL,
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
  CREATE INDEX changes_of_account ON changes (account, position);

  CREATE TABLE actions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL,
    zone INTEGER NOT NULL,
    zone_name TEXT NOT NULL,
    command TEXT NOT NULL,
    at INTEGER NOT NULL,
    actor TEXT,
    running_until INTEGER,
    finished INTEGER,
    error TEXT,
    publishes INTEGER
  ) STRICT;
  CREATE INDEX publishing_actions ON actions (zone, publishes) WHERE publishes IS NOT NULL AND running_until IS NOT NULL;

  CREATE TABLE once_keys (
    actor TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    at INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    PRIMARY KEY (actor, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX once_keys_by_age ON once_keys (at);

  CREATE TABLE secrets (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  ${sessionTables}
  CREATE TABLE console_passwords (
    account INTEGER PRIMARY KEY REFERENCES accounts,
    hash TEXT NOT NULL,
    changed INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE transfer_keys (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    algorithm TEXT NOT NULL,
    secret TEXT NOT NULL,
    account INTEGER REFERENCES accounts,
    scope TEXT NOT NULL,
    created INTEGER NOT NULL,
    revoked INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX transfer_keys_in_use ON transfer_keys (name) WHERE revoked IS NULL;

  CREATE TABLE secondary_state (
    zone INTEGER PRIMARY KEY REFERENCES zones ON DELETE CASCADE,
    checked INTEGER NOT NULL,
    serial INTEGER NOT NULL
  ) STRICT;
`;

/**
 * For signed zones: one row for each name, with the records that were made for it and its place in the chain, and the
 * private keys, encrypted. `types` and `made` are JSON texts.
 */
const signedZones = `
  CREATE TABLE signed_names (
    zone INTEGER NOT NULL,
    owner TEXT NOT NULL,
    link TEXT,
    expires INTEGER,
    children INTEGER NOT NULL,
    types TEXT NOT NULL,
    made TEXT NOT NULL,
    PRIMARY KEY (zone, owner)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX signed_names_chain ON signed_names (zone, link) WHERE link IS NOT NULL;
  CREATE INDEX signed_names_by_expiry ON signed_names (expires) WHERE expires IS NOT NULL;

  CREATE TABLE signing_keys (
    id TEXT PRIMARY KEY,
    zone INTEGER NOT NULL REFERENCES zones ON DELETE CASCADE,
    sealed TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX signing_keys_of_zone ON signing_keys (zone);

  CREATE TABLE leftovers (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    since INTEGER NOT NULL
  ) STRICT;
`;

/**
 * For zones that are published at a provider (decisions/0021). `held`, `theirs` and `refused` are JSON texts
 * of a set's TTL and values; the text `null` is a set that does not exist there.
 */
const publishedZones = `
  CREATE TABLE provider_accounts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL REFERENCES accounts,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    url TEXT NOT NULL,
    ca TEXT,
    sealed TEXT NOT NULL,
    created INTEGER NOT NULL,
    replaced INTEGER NOT NULL,
    UNIQUE (account, name)
  ) STRICT;

  CREATE TABLE published_zones (
    zone INTEGER PRIMARY KEY REFERENCES zones ON DELETE CASCADE,
    through INTEGER NOT NULL,
    waiting INTEGER NOT NULL,
    ttl INTEGER,
    read_at INTEGER NOT NULL,
    trouble TEXT,
    trouble_since INTEGER
  ) STRICT;

  CREATE TABLE published_sets (
    zone INTEGER NOT NULL REFERENCES published_zones ON DELETE CASCADE,
    owner TEXT NOT NULL,
    type TEXT NOT NULL,
    held TEXT NOT NULL,
    sent TEXT,
    theirs TEXT,
    refused TEXT,
    words TEXT,
    at INTEGER NOT NULL,
    PRIMARY KEY (zone, owner, type)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX unpublished_sets ON published_sets (zone) WHERE theirs IS NOT NULL OR refused IS NOT NULL;
`;

/** `sent` was the content of one request; it is a list of requests that are under way or in doubt. */
const openRequests = `
  UPDATE published_sets SET sent = '[{"content":' || sent || '}]' WHERE sent IS NOT NULL;
`;

/**
 * Forwards only: a released step is never edited, a change is a new step at the end, here and in `postgres/schema.ts`.
 * The first one also has to say what `tools/tables` makes of an older store.
 */
export const migrations: readonly MigrationStep[] = [`${tables}${signedZones}${publishedZones}`, openRequests];
