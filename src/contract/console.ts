import type { Scope } from "../core/may.ts";

/** What the pages of the record service request beyond the public APIs. Times are ISO 8601. */
export type ConsoleSession = {
  readonly name: string;
  /** If false, the only way to sign in again is a new link from the terminal. */
  readonly hasPassword: boolean;
  /** For users of the firewall: lets pages hide what would be refused. */
  readonly privileges?: readonly string[];
  /** Must be sent as `X-CSRF-Token` with every request that changes something. */
  readonly csrf: string;
};

export type SessionEntry = {
  readonly id: number;
  readonly from: string;
  readonly agent: string;
  readonly created: string;
  readonly seen: string;
  readonly current: boolean;
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

export type TokenWish = { readonly name: string; readonly scope: Scope };

/** The only answer that ever contains the secret. */
export type MadeToken = { readonly token: TokenEntry; readonly secret: string };
