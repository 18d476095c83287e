import type { PasskeyStore } from "../../access/passkeys/passkey-store.ts";
import type { SessionStore } from "../../access/session.ts";
import type { SharedGuesses } from "../../access/session-throttle.ts";
import type { Instant } from "../../core/instant.ts";
import type { Account } from "../model.ts";

/** Sign-ins to the console: an account has at most one password. */
export type ConsoleStore = {
  readonly sessions: SessionStore;
  readonly passkeys: PasskeyStore;
  readonly account: (id: number) => Promise<LoginAccount | undefined>;
  readonly accountByName: (name: string) => Promise<LoginAccount | undefined>;
  readonly setPassword: (account: number, hash: string, now: Instant) => Promise<void>;
  /** Stores a new hash of the same password, unless the password was changed meanwhile. */
  readonly renewHash: (account: number, hashes: { readonly from: string; readonly to: string }) => Promise<void>;
  readonly hasAnyPassword: () => Promise<boolean>;
  /** Absent if there is only one node. */
  readonly guesses?: SharedGuesses;
  readonly close: () => void | Promise<void>;
};

export type LoginAccount = Account & { readonly passwordHash: string | undefined };
