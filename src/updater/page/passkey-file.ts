import { dirname, join } from "node:path";
import { createPasskeyStore, type PasskeyStore, passkeyTable } from "../../access/passkeys/passkey-store.ts";
import { openSqlite } from "../../lib/sqlite/open.ts";
import { sqliteSql } from "../../lib/sqlite/run-sql.ts";
import type { Logger } from "../../process/log.ts";
import type { UpdaterConfig } from "../config/config.ts";

export type PasskeyFile = { readonly passkeys: PasskeyStore; readonly close: () => void };

/** The passkeys for the updater's page, beside its state. Undefined if they cannot be stored: then there are none. */
export function openPasskeyFile({ stateFile }: Pick<UpdaterConfig, "stateFile">, log: Logger): PasskeyFile | undefined {
  try {
    const database = openSqlite(join(dirname(stateFile), "passkeys.sqlite"), [passkeyTable]);
    return { passkeys: createPasskeyStore(sqliteSql(database)), close: () => database.close() };
  } catch (error) {
    log.warn({ because: (error as Error).message }, "passkeys for the page cannot be stored");
    return undefined;
  }
}
