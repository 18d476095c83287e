import type { Instant } from "../../core/instant.ts";
import { type Sql, sql } from "../../lib/sqlite/sql.ts";

/** A passkey of a user. `id` is chosen by the device, and no two are the same. */
export type Passkey = {
  readonly id: string;
  readonly who: string;
  /** The host name it is for (the RP ID of WebAuthn), with the port of the page at which it was added. */
  readonly site: string;
  /** Chosen by the user. */
  readonly name: string;
  /** COSE, in base64url. */
  readonly publicKey: string;
  /** How often the device has signed; 0 if it does not count. */
  readonly counter: number;
  readonly created: Instant;
  /** When the challenge was made that it signed last. */
  readonly used: Instant;
};

/** On SQLite; a part of `sessionTables`. */
export const passkeyTable = `
  CREATE TABLE console_passkeys (
    id TEXT PRIMARY KEY,
    who TEXT NOT NULL,
    site TEXT NOT NULL,
    name TEXT NOT NULL,
    public_key TEXT NOT NULL,
    counter INTEGER NOT NULL,
    created INTEGER NOT NULL,
    used INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX console_passkeys_of ON console_passkeys (who);
`;

export type PasskeyStore = ReturnType<typeof createPasskeyStore>;

export function createPasskeyStore({ read, write }: Pick<Sql, "read" | "write">) {
  return {
    add: async ({ id, who, site, name, publicKey, counter, created, used }: Passkey): Promise<void> => {
      await write(
        sql`INSERT INTO console_passkeys (id, who, site, name, public_key, counter, created, used)
            VALUES (${id}, ${who}, ${site}, ${name}, ${publicKey}, ${counter}, ${created}, ${used})`,
      );
    },
    byId: async (id: string): Promise<Passkey | undefined> => {
      const [row] = await read<PasskeyRow>(sql`SELECT * FROM console_passkeys WHERE id = ${id}`);
      return row && fromRow(row);
    },
    /** The oldest first. */
    of: async (who: string): Promise<readonly Passkey[]> => {
      const theirs = sql`SELECT * FROM console_passkeys WHERE who = ${who} ORDER BY created, id`;
      return (await read<PasskeyRow>(theirs)).map(fromRow);
    },
    /** False if this challenge or a later one was signed before: nothing that was overheard can be sent again. */
    noteUsed: async (id: string, { counter, used }: Pick<Passkey, "counter" | "used">): Promise<boolean> => {
      const noted = sql`UPDATE console_passkeys SET counter = ${counter}, used = ${used}
        WHERE id = ${id} AND used < ${used} RETURNING id`;
      return (await write(noted)).length === 1;
    },
    /** False if the user has no such passkey. */
    remove: async (who: string, id: string): Promise<boolean> =>
      (await write(sql`DELETE FROM console_passkeys WHERE who = ${who} AND id = ${id} RETURNING id`)).length === 1,
    removeAll: async (who: string): Promise<void> => {
      await write(sql`DELETE FROM console_passkeys WHERE who = ${who}`);
    },
  };
}

type PasskeyRow = Omit<Passkey, "publicKey"> & { readonly public_key: string };

const fromRow = ({ public_key: publicKey, ...row }: PasskeyRow): Passkey => ({ ...row, publicKey });
