import type { Scope } from "../core/may.ts";

/** What the pages of the record service ask for beyond the public APIs. Times are ISO 8601. */
export type ConsoleSession = {
  readonly name: string;
  /** While false, the only way back in is a new link from the terminal. */
  readonly hasPassword: boolean;
  /** Of the firewall's users; a page need not show what would be refused. */
  readonly privileges?: readonly string[];
  /** Goes back in the header `X-CSRF-Token` of every request that changes something. */
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

/** The only answer that ever carries the secret. */
export type MadeToken = { readonly token: TokenEntry; readonly secret: string };
