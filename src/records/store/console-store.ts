import type { SessionStore } from "../../access/session.ts";
import type { SharedGuesses } from "../../access/session-throttle.ts";
import type { Instant } from "../../core/instant.ts";
import type { Account } from "../model.ts";

/** Who may sign in to the console: each account has one password, once somebody has set it. */
export type ConsoleStore = {
  readonly sessions: SessionStore;
  readonly account: (id: number) => Promise<LoginAccount | undefined>;
  readonly accountByName: (name: string) => Promise<LoginAccount | undefined>;
  readonly setPassword: (account: number, hash: string, now: Instant) => Promise<void>;
  /** The same password under another hash, unless it was changed meanwhile. */
  readonly renewHash: (account: number, hashes: { readonly from: string; readonly to: string }) => Promise<void>;
  readonly hasAnyPassword: () => Promise<boolean>;
  /** Absent where there is one node only. */
  readonly guesses?: SharedGuesses;
  readonly close: () => void | Promise<void>;
};

export type LoginAccount = Account & { readonly passwordHash: string | undefined };
