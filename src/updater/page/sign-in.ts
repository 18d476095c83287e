import { hashSecret, sameHash } from "../../access/secret.ts";
import { createSessions, type Sessions } from "../../access/session.ts";
import { type SessionFound, sessionOf } from "../../access/session-cookie.ts";
import { createSignIn, type PlainAnswer, problem } from "../../access/session-http.ts";
import { createSessionStore, sessionTables } from "../../access/session-store.ts";
import type { Instant } from "../../core/instant.ts";
import type { PlainRequest } from "../../process/http/plain-request.ts";
import type { Logger } from "../../process/log.ts";
import { sqliteSql } from "../../process/sqlite/sql.ts";

/** Signing in to the updater's page. There is one user, who is known by the password alone. */
export type PageSignIn = {
  /** Undefined if the request is not about signing in. */
  readonly answer: (request: PlainRequest) => Promise<PlainAnswer | undefined>;
  /** Whether a request comes from someone who has signed in. */
  readonly admit: (request: PlainRequest) => Promise<SessionFound["kind"]>;
  /** Another password ends all sessions. Without one, the only way in is a link. */
  readonly setPassword: (password: string | undefined) => Promise<void>;
  /** For a program that has checked the person already: a new session, and the secret of a link that begins one. */
  readonly sessions: Pick<Sessions, "begin" | "makeLink">;
};

const service = "updater";
/** The only user. */
export const pageUser = "updater";

/** Sessions are kept in memory: a restart ends them, a reload of the config does not. */
export function openPageSignIn({ log, now }: { readonly log: Logger; readonly now: () => Instant }): PageSignIn {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  const database = new DatabaseSync(":memory:");
  database.exec(sessionTables);
  const sessions = createSessions(createSessionStore(sqliteSql(database)), now);
  let known: string | undefined;
  const signIn = createSignIn({
    ...{ service, sessions, now },
    note: (what, fields) => log.info(fields, `page: ${what}`),
    people: {
      check: async (_name, password) =>
        known !== undefined && sameHash(hashSecret(password), known) ? pageUser : undefined,
      describe: async () => ({ name: pageUser, hasPassword: true, privileges: [mayChange] }),
      setPassword: async () => undefined,
    },
  });
  return {
    answer: async (request) => (request.path === "/console/password" ? elsewhere : await signIn(request)),
    admit: async (request) => (await sessionOf(service, sessions, request)).kind,
    async setPassword(password) {
      const next = password === undefined ? undefined : hashSecret(password);
      if (next !== known) await sessions.endAll(pageUser);
      known = next;
    },
    sessions,
  };
}

/** The privilege that the page looks for before it offers to change names. */
export const mayChange = "change-names";

const elsewhere = problem(
  403,
  "The password of this page is in the file that `password:` in `control:` names. Change it there.",
);
