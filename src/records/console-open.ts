import { readFile } from "node:fs/promises";
import type { FastifyInstance } from "fastify";
import type { Logger } from "../process/log.ts";
import { type ConsoleSessions, createConsoleSessions } from "./console-sessions.ts";
import { serveConsole } from "./http-console.ts";
import { migrations } from "./schema-sqlite.ts";
import type { RecordStore } from "./store.ts";
import { openSqliteStore } from "./store-sqlite.ts";
import { openConsoleStore } from "./store-sqlite-console.ts";

export type OpenConsole = {
  readonly sessions: ConsoleSessions;
  /** The pages and what they need beyond the APIs, to be registered without a prefix. */
  readonly routes: (server: FastifyInstance) => Promise<void>;
  /** Nobody has a password yet: whoever starts the service must be shown a link. */
  readonly isNew: () => Promise<boolean>;
  readonly close: () => void;
};

export function openConsole(options: {
  readonly database: string;
  readonly store: RecordStore;
  readonly log: Logger;
  readonly caFile: string | undefined;
  readonly pages: string | undefined;
}): OpenConsole {
  const { store, log, caFile } = options;
  const consoleStore = openConsoleStore(options.database, migrations);
  const sessions = createConsoleSessions(store, consoleStore, Date.now);
  const readCa = caFile === undefined ? undefined : () => readFile(caFile, "utf8");
  return {
    sessions,
    routes: serveConsole({
      store,
      sessions,
      now: Date.now,
      log,
      readCa,
      pages: options.pages,
    }),
    isNew: async () => !(await consoleStore.hasAnyPassword()),
    close: consoleStore.close,
  };
}

/** The secret stands behind `#`: browsers send that part to nobody, so it is in no log. */
export const signInLink = (url: string, secret: string): string => `${url}/sign-in#${secret}`;

/** For whoever has the data folder: the service need not run, and hears nothing of it. */
export async function makeSignInLink(database: string, account: string, url: string): Promise<string> {
  const store = openSqliteStore(database);
  const consoleStore = openConsoleStore(database, migrations);
  try {
    return signInLink(url, await createConsoleSessions(store, consoleStore, Date.now).makeLink(account));
  } finally {
    consoleStore.close();
    store.close();
  }
}
