import type { IncomingHttpHeaders } from "node:http";
import type { Passkey, PasskeyStore } from "./passkeys/passkey-store.ts";
import { sameHash } from "./secret.ts";
import type { People, ProviderSession, Session, Sessions, StoredSession } from "./session.ts";
import { cookieOf, isFromOwnPage } from "./session-cookie.ts";

/** A service with pages to sign in to. */
export type Member = {
  /** Part of the cookie's name. */
  readonly service: string;
  readonly sessions: Sessions;
  readonly people: Pick<People, "describe">;
  readonly passkeys?: PasskeyStore | undefined;
  /**
   * This service's own id of the owner, who may do everything here; undefined while there is no such user. `from`: the
   * address of the caller.
   */
  readonly owner: (from: string) => Promise<string | undefined>;
};

/**
 * Services on one host whose owner signs in once: the owner's session at one of them counts at all of them. Browsers
 * make this possible, because they send cookies to all ports of a host. Other users gain nothing: their session counts
 * only where it began.
 */
export type SharedSignIn = ReturnType<typeof createSharedSignIn>;

export function createSharedSignIn() {
  const members: Member[] = [];
  const listeners = new Set<() => void>();
  return {
    members,
    /** Calls back when sessions may have ended at any of them. */
    onEnd: (listener: () => void): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    ended: (): void => {
      for (const listener of listeners) listener();
    },
  };
}

type Caller = { readonly headers: IncomingHttpHeaders; readonly from: string };

/** A user at one of the services: the same person may have a different id at each. */
type UserAtService = { readonly member: Member; readonly who: string };

/** `who` is the user here; `at` is where the session began. */
export type FoundSession = Session & { readonly at: UserAtService };

export type FoundPasskey = { readonly store: PasskeyStore; readonly passkey: Passkey; readonly who: string };

/** The sign-in of one service, alone or shared. */
export class Entrance {
  readonly #own: Member;
  readonly #shared: SharedSignIn | undefined;

  constructor(own: Member, shared?: SharedSignIn) {
    this.#own = own;
    this.#shared = shared;
    shared?.members.push(own);
  }

  get service(): string {
    return this.#own.service;
  }

  get sessions(): Sessions {
    return this.#own.sessions;
  }

  get passkeys(): PasskeyStore | undefined {
    return this.#own.passkeys;
  }

  async find({ headers, from }: Caller): Promise<FoundSession | undefined> {
    const own = this.#own;
    const session = await sessionAt(own, headers);
    if (session !== undefined) return { ...session, at: { member: own, who: session.who } };
    for (const member of this.#others()) {
      const otherSession = await sessionAt(member, headers);
      if (otherSession === undefined || otherSession.who !== (await member.owner(from))) continue;
      const who = await own.owner(from);
      if (who !== undefined) return { ...otherSession, who, at: { member, who: otherSession.who } };
    }
    return undefined;
  }

  /** The latest first. */
  async list(who: string, from: string): Promise<readonly (StoredSession & { readonly service: string })[]> {
    const lists = (await this.#placesOf(who, from)).map(async ({ member, who: its }) =>
      (await member.sessions.list(its)).map((session) => ({ ...session, service: member.service })),
    );
    return (await Promise.all(lists)).flat().toSorted((a, b) => b.seen - a.seen);
  }

  /** False if the user has no such session. */
  async end(who: string, from: string, { service, id }: { readonly service: string; readonly id: number }) {
    const place = (await this.#placesOf(who, from)).find(({ member }) => member.service === service);
    const ended = place !== undefined && (await place.member.sessions.end(place.who, id));
    this.#shared?.ended();
    return ended;
  }

  async endAll(who: string, from: string): Promise<void> {
    for (const place of await this.#placesOf(who, from)) await place.member.sessions.endAll(place.who);
    this.#shared?.ended();
  }

  /** Sessions that began at the identity provider, which are all of this service. Returns how many have ended. */
  async endAtProvider(which: ProviderSession): Promise<number> {
    const ended = await this.#own.sessions.endAtProvider(which);
    this.#shared?.ended();
    return ended;
  }

  /**
   * Ends every session of this browser, at the other services too: any that is left would sign the browser in here
   * again.
   */
  async signOut(headers: IncomingHttpHeaders): Promise<void> {
    for (const member of [this.#own, ...this.#others()]) {
      const session = await sessionAt(member, headers);
      if (session !== undefined) await member.sessions.end(session.who, session.id);
    }
    this.#shared?.ended();
  }

  /** Whether the user has a password or a passkey, here or, for the owner, at another of the services. */
  async canReturn(who: string, from: string): Promise<boolean> {
    const places = await this.#placesOf(who, from);
    const descriptions = places.map(({ member, who: its }) => member.people.describe(its, from));
    if ((await Promise.all(descriptions)).some((person) => person?.hasPassword)) return true;
    return (await this.passkeysOf(who, from)).length > 0;
  }

  /** A passkey and its user here. The owner's passkeys at the other services count too. */
  async passkey(id: string, from: string): Promise<FoundPasskey | undefined> {
    for (const { passkeys: store, owner } of [this.#own, ...this.#others()]) {
      const passkey = await store?.byId(id);
      if (store === undefined || passkey === undefined) continue;
      if (store === this.#own.passkeys) return { store, passkey, who: passkey.who };
      const who = passkey.who === (await owner(from)) ? await this.#own.owner(from) : undefined;
      return who === undefined ? undefined : { store, passkey, who };
    }
    return undefined;
  }

  async passkeysOf(who: string, from: string): Promise<readonly Passkey[]> {
    const places = await this.#placesOf(who, from);
    const lists = places.map(async ({ member, who: its }) => (await member.passkeys?.of(its)) ?? []);
    return (await Promise.all(lists)).flat();
  }

  /** False if the user has no such passkey. */
  async removePasskey(who: string, from: string, id: string): Promise<boolean> {
    for (const { member, who: its } of await this.#placesOf(who, from))
      if (await member.passkeys?.remove(its, id)) return true;
    return false;
  }

  #others(): readonly Member[] {
    return this.#shared?.members.filter((member) => member !== this.#own) ?? [];
  }

  async #placesOf(who: string, from: string): Promise<readonly UserAtService[]> {
    const here = { member: this.#own, who };
    if (who !== (await this.#own.owner(from))) return [here];
    const elsewhere = this.#others().map(async (member) => ({ member, who: await member.owner(from) }));
    const otherPlaces = await Promise.all(elsewhere);
    return [here, ...otherPlaces.flatMap((place) => (place.who === undefined ? [] : [{ ...place, who: place.who }]))];
  }
}

async function sessionAt({ service, sessions }: Member, headers: IncomingHttpHeaders): Promise<Session | undefined> {
  const secret = cookieOf(service, headers);
  return secret === undefined ? undefined : await sessions.find(secret);
}

/** The session of a request; `forged` if it would change something and does not prove that our own page sent it. */
export type SessionOutcome =
  | { readonly kind: "session"; readonly session: FoundSession }
  | { readonly kind: "none" | "forged" };

export async function sessionOf(
  entrance: Entrance,
  request: Caller & { readonly method: string; readonly isPlainHttp?: boolean },
): Promise<SessionOutcome> {
  const session = await entrance.find(request);
  if (session === undefined) return { kind: "none" };
  const reads = request.method === "GET" || request.method === "HEAD";
  const shown = request.headers["x-csrf-token"];
  const isOurs = typeof shown === "string" && sameHash(shown, session.csrf) && isFromOwnPage(request);
  return reads || isOurs ? { kind: "session", session } : { kind: "forged" };
}
