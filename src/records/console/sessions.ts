import type { IncomingHttpHeaders } from "node:http";
import type { IdentityProvider } from "../../access/oidc/identity-provider.ts";
import { checkPassword, hashPassword, type PasswordCost } from "../../access/password.ts";
import type { People } from "../../access/session.ts";
import { createSessions } from "../../access/session.ts";
import { Entrance, type SharedSignIn, sessionOf } from "../../access/shared-sign-in.ts";
import type { Instant } from "../../core/instant.ts";
import { type Scope, wholeAccount } from "../../core/may.ts";
import type { Quotas } from "../../core/quotas.ts";
import type { PlainRequest } from "../../lib/http/plain-request.ts";
import { type Account, operatorAccount } from "../model.ts";
import type { Actor } from "../queries/permitted-view.ts";
import type { ConsoleStore } from "../store/console-store.ts";
import type { RecordStore } from "../store/port.ts";
import { labelOf } from "./actor-label.ts";

/** Who is signed in to the console, and what they may do through the APIs. */
export type ConsoleSessions = {
  readonly provider: IdentityProvider | undefined;
  readonly entrance: Entrance;
  readonly people: People;
  /** The actor of a request's cookie; `forged` if the request would change something and our page did not send it. */
  readonly actorOf: (request: CookieRequest) => Promise<Actor | "none" | "forged">;
  /** Who is signed in; undefined for `none` and `forged`. */
  readonly signedIn: (request: CookieRequest) => Promise<Actor | undefined>;
  /** Whether the account is that of the owner of this machine. */
  readonly isOwner: (actor: Actor) => Promise<boolean>;
  /** A secret for the sign-in page, valid once and for 15 minutes. Creates the account if it does not exist. */
  readonly makeLink: (account: string) => Promise<string>;
};

type CookieRequest = {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly ip: string;
} & ({ readonly socket: object } | Pick<PlainRequest, "isPlainHttp">);

export const isPlainHttp = ({ socket }: { readonly socket: object }): boolean => !("encrypted" in socket);

export function createConsoleSessions(
  store: Pick<RecordStore, "ensureAccount">,
  console: ConsoleStore,
  now: () => Instant,
  {
    shared,
    passwordCost,
    provider,
    quotas,
  }: {
    readonly shared?: SharedSignIn | undefined;
    readonly passwordCost?: PasswordCost | undefined;
    readonly provider?: IdentityProvider | undefined;
    readonly quotas?: Quotas;
  } = {},
): ConsoleSessions {
  const sessions = createSessions(console.sessions, now, provider?.confirm, quotas?.sessions);
  const ensured = async (name: string) => String((await store.ensureAccount(name, now())).id);
  const people = {
    ...createPeople(console, now, passwordCost),
    forOidc: (name = operatorAccount) => ensured(name),
  };
  const { passkeys } = console;
  const owner = async () => idOf(await console.accountByName(operatorAccount));
  const entrance = new Entrance({ service: "records", sessions, people, passkeys, owner }, shared);
  const actorOf = async (request: CookieRequest): Promise<Actor | "none" | "forged"> => {
    const { method, headers, ip: from } = request;
    const isPlain = "socket" in request ? isPlainHttp(request) : request.isPlainHttp === true;
    const outcome = await sessionOf(entrance, { method, headers, from, isPlainHttp: isPlain });
    if (outcome.kind !== "session") return outcome.kind;
    const account = await console.account(Number(outcome.session.who));
    if (account === undefined) return "none";
    const { id: session, role } = outcome.session;
    const scope: Scope = role === "read" ? { access: "read" } : wholeAccount;
    return { account: account.id, session, label: labelOf(account.name), scope, from };
  };
  return {
    provider,
    entrance,
    people,
    actorOf,
    signedIn: async (request) => {
      const actor = await actorOf(request);
      return typeof actor === "string" ? undefined : actor;
    },

    isOwner: async ({ account }) => String(account) === (await owner()),

    makeLink: async (name) => await sessions.makeLink(await ensured(name)),
  };
}

const idOf = (account: Account | undefined): string | undefined => account && String(account.id);

const createPeople = (console: ConsoleStore, now: () => Instant, cost: PasswordCost | undefined): People => ({
  check: async (name, password) => {
    const account = await console.accountByName(name);
    const from = account?.passwordHash;
    const { matches, renewed: to } = await checkPassword(password, from, cost);
    if (!matches || account === undefined) return undefined;
    // If the new hash cannot be written now, the old one stays valid.
    if (from !== undefined && to !== undefined)
      await console.renewHash(account.id, { from, to }).catch(() => undefined);
    return String(account.id);
  },
  hasName: async (name) => (await console.accountByName(name)) !== undefined,
  describe: async (who) => {
    const account = await console.account(Number(who));
    return account && { name: account.name, hasPassword: account.passwordHash !== undefined };
  },
  setPassword: async (who, password) => console.setPassword(Number(who), await hashPassword(password, cost), now()),
});
