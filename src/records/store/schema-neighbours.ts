/** The labels of a name from the last to the first (core/names/zone-neighbours.ts); zones' names need no escapes. */
const reversed = (name: string): string =>
  `(SELECT group_concat(value, ' ' ORDER BY key DESC) FROM json_each('["' || replace(${name}, '.', '","') || '"]'))`;

/**
 * Finds what is below a name. Kept by the database itself, so that no way to write a zone can forget it. Programs of an earlier
 * schema may go on: whatever they make is found here too.
 */
export const reversedNames = `
  ALTER TABLE zones ADD COLUMN reversed TEXT;
  UPDATE zones SET reversed = ${reversed("name")};
  CREATE INDEX zones_reversed ON zones (reversed, account);
  CREATE TRIGGER zone_named AFTER INSERT ON zones BEGIN
    UPDATE zones SET reversed = ${reversed("NEW.name")} WHERE number = NEW.number;
  END;
  CREATE TRIGGER zone_renamed AFTER UPDATE OF name ON zones WHEN NEW.name <> OLD.name BEGIN
    UPDATE zones SET reversed = ${reversed("NEW.name")} WHERE number = NEW.number;
  END;
`;

/** Who may have a zone inside or above another account's zone. One of a zone's owner goes with the zone; without a zone it is the operator's. */
export const zoneGrants = `
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
`;
