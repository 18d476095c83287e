import type { Instant } from "../core/instant.ts";
import { usualQuotas } from "../core/quotas.ts";
import { seal, unseal } from "./sealed.ts";
import { createToken, hashSecret } from "./secret.ts";

/** Stores sessions and sign-in links, but only hashes of their secrets. `who` is the service's own id for a user. */
export type SessionStore = {
  readonly add: (session: NewSession) => Promise<StoredSession>;
  readonly byHash: (hash: string) => Promise<StoredSession | undefined>;
  /** The latest first. */
  readonly of: (who: string) => Promise<readonly StoredSession[]>;
  readonly noteSeen: (id: number, now: Instant) => Promise<void>;
  /** Notes that the provider is asked about a session now. False if another request did that first. */
  readonly claimCheck: (id: number, times: { readonly before: Instant; readonly now: Instant }) => Promise<boolean>;
  readonly noteConfirmed: (id: number, ticket: Pick<SessionTicket, "sealed" | "confirmed">) => Promise<void>;
  /** False if the user has no such session. */
  readonly remove: (who: string, id: number) => Promise<boolean>;
  readonly removeAll: (who: string) => Promise<void>;
  /** Those whose sealed tickets match one of these patterns of SQL. Returns how many there were. */
  readonly removeTickets: (patterns: readonly string[]) => Promise<number>;
  readonly addLink: (link: { readonly hash: string; readonly who: string; readonly expires: Instant }) => Promise<void>;
  /** Returns the user of a link and when it expires, and removes the link. */
  readonly takeLink: (hash: string) => Promise<{ readonly who: string; readonly expires: Instant } | undefined>;
  /** Drops expired sessions and links. */
  readonly dropOld: (limits: OldSessions) => Promise<void>;
};

export type OldSessions = { readonly seenBefore: Instant; readonly confirmedBefore: Instant; readonly now: Instant };

export type NewSession = {
  readonly hash: string;
  readonly who: string;
  readonly from: string;
  /** The browser's User-Agent. */
  readonly agent: string;
  readonly created: Instant;
  readonly role?: SessionRole | undefined;
  /** Only if it began at a provider. */
  readonly ticket?: SessionTicket | undefined;
};

/** `read`: the session may change nothing. */
export type SessionRole = "full" | "read";

/** What is needed to ask the provider again, and when it was asked. */
export type SessionTicket = {
  /**
   * Hashes of the provider's session and user, to find them when they end there, and the ticket, encrypted with the
   * secret of the session's cookie, as `SESSION.USER.TICKET`.
   */
  readonly sealed: string;
  /** When the provider last said that the user may still sign in. */
  readonly confirmed: Instant;
  readonly asked: Instant;
};

/** What a provider says about a session that began there. Unknown: the provider cannot be asked now. */
export type TicketAnswer =
  | { readonly kind: "good"; readonly ticket: string }
  | { readonly kind: "ended" }
  /** `ticket`: a newer one to ask with. */
  | { readonly kind: "unknown"; readonly ticket?: string };

export type ConfirmTicket = (ticket: string) => Promise<TicketAnswer>;

export type StoredSession = NewSession & { readonly id: number; readonly seen: Instant };

export type Session = StoredSession & { readonly csrf: string };

const minute = 60_000;
const day = 24 * 60 * minute;

/** A session ends after a week without use, or after a month. */
export const sessionLimits = { idle: 7 * day, whole: 30 * day } as const;

/** A link from the terminal must be used soon. */
const linkLifetime = 15 * minute;

/**
 * A session that began at a provider is confirmed there while it is used. It ends if the provider says so, and an hour
 * after the last confirmation if the provider cannot be asked.
 */
const confirmation = { every: 5 * minute, retry: minute, longest: 60 * minute } as const;

export type Sessions = ReturnType<typeof createSessions>;

type Browser = { readonly from: string; readonly agent: string };

/** What the provider needs to confirm a session, and its own user and session. */
export type ProviderTicket = ProviderSession & { readonly text: string };

export type ProviderSession = { readonly subject?: string | undefined; readonly sid?: string | undefined };

/** How somebody has signed in. */
export type SignedInBy = { readonly role?: SessionRole | undefined; readonly ticket?: ProviderTicket | undefined };

/**
 * Without `confirm`, sessions that began at a provider cannot be confirmed. A user has `most` sessions: a further one
 * ends the one that was not used for longest, so that nobody is locked out.
 */
export function createSessions(
  store: SessionStore,
  now: () => Instant,
  confirm?: ConfirmTicket,
  most: number = usualQuotas.sessions,
) {
  return {
    /** Returns the secret for the cookie. */
    begin: async (who: string, browser: Browser, { role, ticket }: SignedInBy = {}): Promise<string> => {
      const secret = createToken(43);
      const at = now();
      const [seenBefore, confirmedBefore] = [at - sessionLimits.idle, at - confirmation.longest];
      await store.dropOld({ seenBefore, confirmedBefore, now: at });
      const sealed = ticket && { sealed: sealedTicket(ticket, secret), confirmed: at, asked: at };
      await store.add({ hash: hashSecret(secret), who, ...browser, created: at, role, ticket: sealed || undefined });
      for (const { id } of (await store.of(who)).slice(most)) await store.remove(who, id);
      return secret;
    },

    find: async (secret: string): Promise<Session | undefined> => {
      const session = await store.byHash(hashSecret(secret));
      const at = now();
      if (session === undefined || !isInForce(session, at)) return undefined;
      if (
        session.ticket &&
        !(await isConfirmed(store, confirm, { ...session, ticket: session.ticket }, { secret, now }))
      )
        return undefined;
      if (at - session.seen > minute) await store.noteSeen(session.id, at);
      return { ...session, csrf: csrfOf(secret) };
    },

    list: async (who: string): Promise<readonly StoredSession[]> => {
      const at = now();
      return (await store.of(who)).filter((session) => isInForce(session, at));
    },

    end: (who: string, id: number) => store.remove(who, id),
    endAll: (who: string) => store.removeAll(who),

    /** The provider says that a user, or one session of a user, has ended there. Returns how many ended here. */
    endAtProvider: (which: ProviderSession): Promise<number> => store.removeTickets(patternsOf(which)),

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

const sealedTicket = ({ text, subject, sid }: ProviderTicket, secret: string): string =>
  `${tagOf(sid)}.${tagOf(subject)}.${seal(text, secret)}`;

function patternsOf({ subject, sid }: ProviderSession): readonly string[] {
  if (sid === undefined) return subject === undefined ? [] : [`%.${tagOf(subject)}.%`];
  // Some providers name their session only when it ends.
  const ofUser = subject === undefined ? [] : [`${tagOf(undefined)}.${tagOf(subject)}.%`];
  return [`${tagOf(sid)}.%`, ...ofUser];
}

/** In hexadecimal digits, so that it is no pattern of SQL. */
const tagOf = (text: string | undefined): string =>
  text === undefined ? "none" : Buffer.from(hashSecret(`provider:${text}`), "base64url").toString("hex");

const isInForce = ({ created, seen, ticket }: StoredSession, now: Instant): boolean =>
  now - seen < sessionLimits.idle &&
  now - created < sessionLimits.whole &&
  (ticket === undefined || now - ticket.confirmed < confirmation.longest);

/** Asks the provider if it is time to. Meanwhile, other requests of the session go on. */
async function isConfirmed(
  store: SessionStore,
  confirm: ConfirmTicket | undefined,
  session: StoredSession & { readonly ticket: SessionTicket },
  { secret, now }: { readonly secret: string; readonly now: () => Instant },
): Promise<boolean> {
  const { sealed, confirmed, asked: before } = session.ticket;
  const at = now();
  if (confirm === undefined || at - confirmed < confirmation.every || at - before < confirmation.retry) return true;
  if (!(await store.claimCheck(session.id, { before, now: at }))) return true;
  const [text = "", ...tags] = sealed.split(".").toReversed();
  const ticket = unseal(text, secret);
  const ticketAnswer: TicketAnswer = ticket === undefined ? { kind: "ended" } : await confirm(ticket);
  if (ticketAnswer.kind !== "ended" && ticketAnswer.ticket !== undefined) {
    const renewed = {
      sealed: [...tags.toReversed(), seal(ticketAnswer.ticket, secret)].join("."),
      confirmed: ticketAnswer.kind === "good" ? at : confirmed,
    };
    await store.noteConfirmed(session.id, renewed);
  }
  if (ticketAnswer.kind === "ended") await store.remove(session.who, session.id);
  return ticketAnswer.kind === "good" || (ticketAnswer.kind === "unknown" && isInForce(session, now()));
}

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
  /** Undefined if the user was removed or may not sign in. `role` is that of the session. */
  readonly describe: (who: string, from: string, role?: SessionRole) => Promise<Person | undefined>;
  readonly setPassword: (who: string, password: string) => Promise<void>;
  /** The user for an account that a rule for the identity provider names; created if missing. Default: the owner. */
  readonly forOidc?: (account: string | undefined, role: SessionRole) => Promise<string>;
};

/** `privileges` tells the pages what to leave out because it would be refused. */
export type Person = {
  readonly name: string;
  readonly hasPassword: boolean;
  readonly privileges?: readonly string[];
};
