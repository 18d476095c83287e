import { IdentityProvider } from "../../access/oidc/identity-provider.ts";
import type { OidcSettings } from "../../access/oidc/settings.ts";
import type { PasskeyStore } from "../../access/passkeys/passkey-store.ts";
import { hashSecret, sameHash } from "../../access/secret.ts";
import { createSessions, type People } from "../../access/session.ts";
import { createSignIn } from "../../access/session-http.ts";
import { createSessionStore, sessionTables } from "../../access/session-store.ts";
import { Entrance, type SessionOutcome, type SharedSignIn, sessionOf } from "../../access/shared-sign-in.ts";
import type { ServiceLink } from "../../contract/console.ts";
import type { Instant } from "../../core/instant.ts";
import { type PlainAnswer, type PlainRequest, problem } from "../../lib/http/plain-request.ts";
import { sqliteSql } from "../../lib/sqlite/run-sql.ts";
import type { Logger } from "../../process/log.ts";

/** The only user. */
const pageUser = "updater";

export type SignInTools = {
  readonly log: Logger;
  readonly now: () => Instant;
  /** With services in the same process. */
  readonly shared?: SharedSignIn;
  /** The other services, for the switcher of the page. */
  readonly services?: () => readonly ServiceLink[];
  /** The names under which people reach the page. */
  readonly names?: readonly string[];
  readonly oidc?: OidcSettings | undefined;
  /** Where passkeys are stored; absent: nowhere, so that there are none. */
  readonly passkeys?: PasskeyStore | undefined;
};

export type PageSignIn = ReturnType<typeof openPageSignIn>;

/**
 * Signing in to the updater's page. There is one user, identified by the password alone. Sessions are kept in memory: a
 * restart ends them, a reload of the config does not.
 */
export function openPageSignIn({ log, now, shared, services, names, oidc, passkeys }: SignInTools) {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  const database = new DatabaseSync(":memory:");
  database.exec(sessionTables);
  const note = (what: string, fields: Readonly<Record<string, unknown>>) => log.info(fields, `page: ${what}`);
  const provider = oidc && new IdentityProvider(oidc, note);
  const sessions = createSessions(createSessionStore(sqliteSql(database)), now, provider?.confirm);
  let cachedPeople: string | undefined;
  const people: People = {
    check: async (_name, password) =>
      cachedPeople !== undefined && sameHash(hashSecret(password), cachedPeople) ? pageUser : undefined,
    hasName: async (name) => name === pageUser,
    describe: async (_who, _from, role) => ({
      name: pageUser,
      hasPassword: cachedPeople !== undefined,
      privileges: role === "read" ? [] : [mayChange],
    }),
    setPassword: async () => undefined,
    forOidc: async () => pageUser,
  };
  const owner = async () => pageUser;
  const entrance = new Entrance({ service: "updater", sessions, people, passkeys, owner }, shared);
  const byPassword = () => cachedPeople !== undefined;
  const signIn = createSignIn({ entrance, people, provider, services, names, byPassword, now, note });
  return {
    /** Undefined if the request is not about signing in. */
    answer: async (request: PlainRequest): Promise<PlainAnswer | undefined> =>
      request.path === "/console/password" ? elsewhere : await signIn(request),
    /** Whether the sender of a request has signed in. */
    admit: async (request: PlainRequest): Promise<SessionOutcome["kind"] | "reader"> => {
      const outcome = await sessionOf(entrance, request);
      return outcome.kind === "session" && outcome.session.role === "read" ? "reader" : outcome.kind;
    },
    /**
     * A changed password ends all sessions. Without a password, people can sign in only at a service that shares the
     * sign-in.
     */
    async setPassword(password: string | undefined): Promise<void> {
      const next = password === undefined ? undefined : hashSecret(password);
      if (next !== cachedPeople) await sessions.endAll(pageUser);
      cachedPeople = next;
    },
  };
}

/** The privilege that the page looks for before it offers to change names. */
const mayChange = "change-names";

const elsewhere = problem(
  403,
  "The password of this page is in a file: `password:` under `control:` in the config says which. Change it there.",
);
