import { checkPassword, hashPassword, type PasswordCost } from "../../access/password.ts";
import { createSessions, type Sessions } from "../../access/session.ts";
import { sessionOf } from "../../access/session-cookie.ts";
import type { People } from "../../access/session-http.ts";
import type { Instant } from "../../core/instant.ts";
import { wholeAccount } from "../../core/may.ts";
import type { Actor } from "../service/sight.ts";
import type { ConsoleStore } from "../store/console-store.ts";
import type { RecordStore } from "../store/port.ts";

export const consoleService = "records";

/** Who is signed in to the console, and what they may do through the APIs. */
export type ConsoleSessions = {
  readonly sessions: Sessions;
  readonly people: People;
  /** The actor of a request's cookie; `forged` if the request would change something and our page did not send it. */
  readonly actorOf: (request: CookieRequest) => Promise<Actor | "none" | "forged">;
  /** The same, without the reason why there is none. */
  readonly signedIn: (request: CookieRequest) => Promise<Actor | undefined>;
  /** A secret for the sign-in page, valid once and for 15 minutes. Creates the account if it does not exist. */
  readonly makeLink: (account: string) => Promise<string>;
};

type CookieRequest = {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly ip: string;
};

export function createConsoleSessions(
  store: Pick<RecordStore, "ensureAccount">,
  console: ConsoleStore,
  now: () => Instant,
  passwordCost?: PasswordCost,
): ConsoleSessions {
  const sessions = createSessions(console.sessions, now);
  const actorOf = async (request: CookieRequest): Promise<Actor | "none" | "forged"> => {
    const found = await sessionOf(consoleService, sessions, request);
    if (found.kind !== "session") return found.kind;
    const account = await console.account(Number(found.session.who));
    if (account === undefined) return "none";
    const session = found.session.id;
    return { account: account.id, session, label: `${account.name} (console)`, scope: wholeAccount, from: request.ip };
  };
  return {
    sessions,
    actorOf,
    signedIn: async (request) => {
      const actor = await actorOf(request);
      return typeof actor === "string" ? undefined : actor;
    },

    people: {
      check: async (name, password) => {
        const account = await console.accountByName(name);
        const from = account?.passwordHash;
        const { matches, renewed: to } = await checkPassword(password, from, passwordCost);
        if (!matches || account === undefined) return undefined;
        // If the new hash cannot be written now, the old one stays valid.
        if (from !== undefined && to !== undefined)
          await console.renewHash(account.id, { from, to }).catch(() => undefined);
        return String(account.id);
      },
      describe: async (who) => {
        const account = await console.account(Number(who));
        return account && { name: account.name, hasPassword: account.passwordHash !== undefined };
      },
      setPassword: async (who, password) =>
        console.setPassword(Number(who), await hashPassword(password, passwordCost), now()),
    },

    makeLink: async (name) => {
      const account = await store.ensureAccount(name, now());
      return await sessions.makeLink(String(account.id));
    },
  };
}
