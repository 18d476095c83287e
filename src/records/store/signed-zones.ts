import type { SignedName } from "../../core/dnssec/signed-name.ts";
import type { Instant } from "../../core/instant.ts";
import type { Zone } from "../model.ts";
import type { EncryptedKey } from "../signing/signer.ts";

/** The part of a store that is about signed zones. */
export type SignedZones = {
  /** In the order of owners, after the given one, to read a large zone in parts. */
  readonly signedNames: (zone: Zone, after: string | undefined, limit: number) => Promise<readonly SignedName[]>;
  /** Signed zones of all accounts in the order of their numbers, after `after`. */
  readonly signedZones: (after: number, limit: number) => Promise<readonly Zone[]>;
  /**
   * The names whose signatures expire before this time, at most this many, the most urgent ones, grouped by zone.
   * Within a zone the most urgent is first. Zones with these numbers are left out.
   */
  readonly expiringNames: (
    before: Instant,
    limit: number,
    except?: readonly number[],
  ) => Promise<readonly ExpiringNames[]>;
  /**
   * Resolves when everything that this process knows to be unsigned, of one zone or of all, is signed, or could not be.
   */
  readonly signed: (zone?: number) => Promise<void>;
  /** The private keys of a zone, encrypted. */
  readonly encryptedKeys: (zone: Zone) => Promise<readonly EncryptedKey[]>;
};

/** `first`: when the first of their signatures expires. */
export type ExpiringNames = { readonly zone: Zone; readonly owners: readonly string[]; readonly first: Instant };
