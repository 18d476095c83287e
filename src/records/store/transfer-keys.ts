import type { Instant } from "../../core/instant.ts";
import type { Scope } from "../../core/may.ts";
import type { Zone } from "../model.ts";

/** What the store keeps for standard nameservers: keys that both sides know, all zones, and those that come from elsewhere. */
export type TransferStore = {
  readonly addTransferKey: (key: NewTransferKey) => Promise<TransferKey | "name-taken">;
  /** One that is still good. */
  readonly transferKey: (name: string) => Promise<TransferKey | undefined>;
  readonly transferKeys: () => Promise<readonly TransferKey[]>;
  /** True when a key that was still good has been revoked. Its name may then be given to another. */
  readonly revokeTransferKey: (name: string, now: Instant) => Promise<boolean>;

  /** Zones of all accounts by their numbers, behind `after`. */
  readonly everyZone: (after: number, limit: number) => Promise<readonly ZoneNumber[]>;
  /** Zones of all accounts whose records come from a primary server. */
  readonly secondaryZones: () => Promise<readonly Zone[]>;
  /** Of those among the zones that have been had from their primary servers, by their numbers. */
  readonly secondaryStates: (zones: readonly Zone[]) => Promise<ReadonlyMap<number, SecondaryState>>;
  readonly noteSecondary: (zone: Zone, state: SecondaryNote) => Promise<void>;
};

export type ZoneNumber = { readonly number: number; readonly name: string };
/** When a secondary zone was last known to be that of its primary, and at which serial. */
export type SecondaryNote = { readonly checked: Instant; readonly serial: number };
export type SecondaryState = SecondaryNote & {
  /** The canonical text of its SOA. */
  readonly soa: string;
};

export type NewTransferKey = {
  /** A DNS name: both sides call the key so. */
  readonly name: string;
  readonly algorithm: "hmac-sha256" | "hmac-sha512";
  /** In base64. A signature is computed with it, so it cannot be kept as a hash. */
  readonly secret: string;
  /** Whose zones it opens; undefined for the zones of all accounts. */
  readonly account: number | undefined;
  /** To read is to transfer, to write is to update. */
  readonly scope: Scope;
  readonly created: Instant;
};

export type TransferKey = NewTransferKey & {
  readonly accountName: string | undefined;
  readonly revoked: Instant | undefined;
};
