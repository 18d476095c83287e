/** The step that standard nameservers need: their keys, and what is known of zones that come from them. */
export const transferTables = `
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

  CREATE INDEX secondary_zones ON zones (number) WHERE settings ->> 'mode' = 'secondary';
  CREATE TABLE secondary_state (
    zone INTEGER PRIMARY KEY REFERENCES zones ON DELETE CASCADE,
    checked INTEGER NOT NULL,
    serial INTEGER NOT NULL
  ) STRICT;
`;
