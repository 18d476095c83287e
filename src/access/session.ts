import type { Instant } from "../core/instant.ts";
import { createToken, hashSecret } from "./secret.ts";

/** Stores sessions and sign-in links, but only hashes of their secrets. `who` is the service's own id for a user. */
export type SessionStore = {
  readonly add: (session: NewSession) => Promise<StoredSession>;
  readonly byHash: (hash: string) => Promise<StoredSession | undefined>;
  /** The latest first. */
  readonly of: (who: string) => Promise<readonly StoredSession[]>;
  readonly noteSeen: (id: number, now: Instant) => Promise<void>;
  /** False if the user has no such session. */
  readonly remove: (who: string, id: number) => Promise<boolean>;
  readonly removeAll: (who: string) => Promise<void>;
  readonly addLink: (link: { readonly hash: string; readonly who: string; readonly expires: Instant }) => Promise<void>;
  /** Returns the user of a link and when it expires, and removes the link. */
  readonly takeLink: (hash: string) => Promise<{ readonly who: string; readonly expires: Instant } | undefined>;
  /** Drops expired sessions and links. */
  readonly dropOld: (limits: { readonly seenBefore: Instant; readonly now: Instant }) => Promise<void>;
};

/** Wraps a store; `ended` is called after every call that ends sessions. */
export const tellingEnds = (store: SessionStore, ended: () => void): SessionStore => ({
  ...store,
  remove: async (who, id) => {
    const removed = await store.remove(who, id);
    ended();
    return removed;
  },
  removeAll: async (who) => {
    await store.removeAll(who);
    ended();
  },
});

export type NewSession = {
  readonly hash: string;
  readonly who: string;
  readonly from: string;
  /** The browser's User-Agent. */
  readonly agent: string;
  readonly created: Instant;
};

export type StoredSession = NewSession & { readonly id: number; readonly seen: Instant };

export type Session = StoredSession & { readonly csrf: string };

const minute = 60_000;
const day = 24 * 60 * minute;

/** A session ends after a week without use, or after a month. */
export const sessionLimits = { idle: 7 * day, whole: 30 * day } as const;

/** A link from the terminal must be used soon. */
const linkLifetime = 15 * minute;

export type Sessions = ReturnType<typeof createSessions>;

export function createSessions(store: SessionStore, now: () => Instant) {
  return {
    /** Returns the secret for the cookie. */
    begin: async (who: string, browser: { readonly from: string; readonly agent: string }): Promise<string> => {
      const secret = createToken(43);
      const at = now();
      await store.dropOld({ seenBefore: at - sessionLimits.idle, now: at });
      await store.add({ hash: hashSecret(secret), who, ...browser, created: at });
      return secret;
    },

    find: async (secret: string): Promise<Session | undefined> => {
      const found = await store.byHash(hashSecret(secret));
      const at = now();
      if (found === undefined || !isInForce(found, at)) return undefined;
      if (at - found.seen > minute) await store.noteSeen(found.id, at);
      return { ...found, csrf: csrfOf(secret) };
    },

    list: async (who: string): Promise<readonly StoredSession[]> => {
      const at = now();
      return (await store.of(who)).filter((session) => isInForce(session, at));
    },

    end: (who: string, id: number) => store.remove(who, id),
    endAll: (who: string) => store.removeAll(who),

    makeLink: async (who: string): Promise<string> => {
      const secret = createToken(43);
      await store.addLink({ hash: hashSecret(secret), who, expires: now() + linkLifetime });
      return secret;
    },

    /** Uses the link up even if it has expired. */
    redeemLink: async (secret: string): Promise<string | undefined> => {
      const link = await store.takeLink(hashSecret(secret));
      return link !== undefined && now() < link.expires ? link.who : undefined;
    },
  };
}

const isInForce = ({ created, seen }: StoredSession, now: Instant): boolean =>
  now - seen < sessionLimits.idle && now - created < sessionLimits.whole;

/** Derived from the session's secret, so that it needs no storage and ends with the session. */
const csrfOf = (secret: string): string => hashSecret(`csrf:${secret}`);

/** The secret comes after `#`: browsers never send that part, so it is in no log. */
export const signInLink = (url: string, secret: string): string => `${url}/sign-in#${secret}`;

/** The users of one service, identified by name and password. */
export type People = {
  /** Takes just as long for an unknown name. `shutOut` is why a user with the right password may not sign in. */
  readonly check: (name: string, password: string) => Promise<string | { readonly shutOut: string } | undefined>;
  /** Whether there is a user with this name. Others are not logged: people type passwords into the wrong field. */
  readonly hasName: (name: string) => Promise<boolean>;
  /** Undefined if the user was removed or may not sign in. */
  readonly describe: (who: string, from: string) => Promise<Person | undefined>;
  readonly setPassword: (who: string, password: string) => Promise<void>;
};

/** `privileges` tells the pages what to leave out because it would be refused. */
export type Person = {
  readonly name: string;
  readonly hasPassword: boolean;
  readonly privileges?: readonly string[];
};
