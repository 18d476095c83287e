import type { Scope } from "../core/may.ts";
import type { ChangeEvent } from "./change-events.ts";

/** What the pages of the record service request beyond the public APIs. Times are ISO 8601. */
export type ConsoleSession = {
  readonly name: string;
  readonly hasPassword: boolean;
  /**
   * Whether there is a password or a passkey, here or at a service that shares the sign-in, or the session began at an
   * identity provider. Otherwise only a link from the terminal signs in.
   */
  readonly canReturn: boolean;
  /** For users of the firewall: lets pages hide what would be refused. */
  readonly privileges?: readonly string[];
  /** The session may change nothing. */
  readonly readOnly?: boolean;
  /** The identity provider at which the session began; then there is no password to set and no passkey to add. */
  readonly provider?: string | undefined;
  /** Must be sent as `X-CSRF-Token` with every request that changes something. */
  readonly csrf: string;
};

/** Another service, for the switcher of the pages. */
export type ServiceLink = {
  readonly service: ServiceName;
  readonly url: string;
  /** Runs in the same process: it has the same host name, whatever that is for the browser, and the same sign-in. */
  readonly together: boolean;
};

export type Services = {
  readonly services: readonly ServiceLink[];
  /** Whether there is a password to sign in with here. */
  readonly byPassword: boolean;
  /** The name of the identity provider, if there is one. */
  readonly provider?: string | undefined;
  readonly passkeys?: boolean;
};

export type ServiceName = "records" | "firewall" | "updater";

export type SessionEntry = {
  readonly id: string;
  readonly from: string;
  readonly agent: string;
  readonly created: string;
  readonly seen: string;
  readonly current: boolean;
};

export type PasskeyEntry = {
  readonly id: string;
  readonly name: string;
  /** The host name it is for. */
  readonly site: string;
  readonly created: string;
  /** Null if it was never used. */
  readonly used: string | null;
};

export type TokenEntry = {
  readonly id: number;
  readonly name: string;
  readonly scope: Scope;
  readonly created: string;
  readonly revoked: string | null;
  readonly lastUsed: string | null;
  readonly uses: number;
};

/** A page of the tokens, the newest first; `revoked`: how many there are, also if the page leaves them out. */
export type TokenPage = { readonly tokens: readonly TokenEntry[]; readonly pages: number; readonly revoked: number };

export const tokensPerPage = 50;

/** `allZones` confirms a scope that may write all zones; without it, such a token is refused. */
export type TokenInput = { readonly name: string; readonly scope: Scope; readonly allZones?: true };

/** The only answer that ever contains the secret. */
export type MadeToken = { readonly token: TokenEntry; readonly secret: string };

/** Sets on a page of `/console/zones/Z/rrsets`, which is like a page of the record-set API. */
export const setsPerConsolePage = 1_000;

/** One write in the history of a zone. */
export type WriteEntry = {
  readonly serial: number;
  /** The id of its newest change. */
  readonly newest: number;
  readonly at: string;
  readonly by: string;
  /** How many of its changes did what; settings count as changed. */
  readonly added: number;
  readonly changed: number;
  readonly deleted: number;
  /** It created the zone, so it cannot be undone. */
  readonly begins: boolean;
  /** The first few changes that match the filter. */
  readonly changes: readonly ChangeEvent[];
};

export type WritePage = {
  readonly writes: readonly WriteEntry[];
  /** Where the next page starts; null at the end. */
  readonly next: number | null;
  /** How far back the search went; null at the end. */
  readonly reached: string | null;
};

/**
 * Whether the parent zone names this service's nameservers: all and no others, some, none of them, or there is no
 * delegation.
 */
export type DelegationState = {
  readonly status: "valid" | "partial" | "elsewhere" | "none" | "unknown";
  /** The servers that the parent zone names. */
  readonly servers: readonly string[];
  readonly asked: string;
  /** Why it is unknown. */
  readonly because: string | null;
};
