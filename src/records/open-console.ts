import { readFile } from "node:fs/promises";
import type { FastifyInstance } from "fastify";
import { signInLink } from "../access/session.ts";
import type { Instant } from "../core/instant.ts";
import type { Logger } from "../process/log.ts";
import { serveConsole } from "./console/http.ts";
import { type ConsoleSessions, createConsoleSessions } from "./console/sessions.ts";
import { openStore, type StorePlace } from "./open-store.ts";
import type { ConsoleStore } from "./store/console-store.ts";
import type { RecordStore } from "./store/port.ts";

export type OpenConsole = {
  readonly sessions: ConsoleSessions;
  /** The pages and what they need beyond the APIs, to be registered without a prefix. */
  readonly routes: (server: FastifyInstance) => Promise<void>;
  /** Nobody has a password yet: whoever starts the service must be shown a link. */
  readonly isNew: () => Promise<boolean>;
};

export function openConsole(options: {
  readonly store: RecordStore;
  readonly consoleStore: ConsoleStore;
  readonly now: () => Instant;
  readonly log: Logger;
  readonly caFile: string | undefined;
  readonly pages: string | undefined;
}): OpenConsole {
  const { store, consoleStore, now, log, caFile } = options;
  const sessions = createConsoleSessions(store, consoleStore, now);
  const readCa = caFile === undefined ? undefined : () => readFile(caFile, "utf8");
  return {
    sessions,
    routes: serveConsole({
      store,
      sessions,
      guesses: consoleStore.guesses,
      now,
      log,
      readCa,
      pages: options.pages,
    }),
    isNew: async () => !(await consoleStore.hasAnyPassword()),
  };
}

/** For whoever can open the store: the service need not run, and hears nothing of it. */
export async function makeSignInLink(place: StorePlace, log: Logger, name: string, url: string): Promise<MadeLink> {
  const { store, console, close } = await openStore(place, log);
  try {
    const isNew = (await store.account(name)) === undefined;
    const secret = await createConsoleSessions(store, console, Date.now).makeLink(name);
    return { name, isNew, link: signInLink(url, secret) };
  } finally {
    await close();
  }
}

/** `isNew`: the account was made for it. */
type MadeLink = { readonly link: string; readonly name: string; readonly isNew: boolean };
