import type { Instant } from "../../core/instant.ts";
import type { MaybeLater } from "../../core/maybe-later.ts";
import type { Account, NewToken, Token } from "../model.ts";

/** All tokens of an account, or the `latest` newest of those before the `skip` newest. The oldest comes first. */
export type TokenQuery = {
  readonly account: number;
  readonly latest?: number;
  readonly skip?: number;
  /** Leaves out revoked ones. */
  readonly unrevoked?: boolean;
};

export type TokenCounts = { readonly unrevoked: number; readonly revoked: number };

/** Accounts, their tokens, and the secrets of the database. */
export type TokenStore = {
  readonly account: (name: string) => Promise<Account | undefined>;
  readonly ensureAccount: (name: string, now: Instant) => Promise<Account>;
  /**
   * Throws `OverQuota` if the account has as many in force as it may have. Deletes tokens that ended 90 days ago, and
   * all but 1,000 of those that have ended.
   */
  readonly addToken: (token: NewToken) => Promise<Token>;
  /** Without a promise if it is in memory: every request asks. */
  readonly tokenByHash: (hash: string) => MaybeLater<Token | undefined>;
  readonly tokens: (of?: TokenQuery) => Promise<readonly Token[]>;
  readonly tokenCounts: (account: number) => Promise<TokenCounts>;
  /** True if the token was valid, and of this account if one is given, and is now revoked. */
  readonly revokeToken: (id: number, now: Instant, account?: number) => Promise<boolean>;
  /** A named secret of this database. It is the same for all nodes, and created when it is first needed. */
  readonly secret: (name: string) => Promise<string>;
  /** For a secret that is not simply random, such as a certificate's key. */
  readonly findSecret: (name: string) => Promise<string | undefined>;
  readonly replaceSecret: (name: string, value: string) => Promise<void>;
  /** Counts one use without writing: counts are written together every few seconds and when the store closes. */
  readonly noteUse: (id: number, now: Instant) => void;
};
