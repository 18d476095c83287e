import type { Family } from "../../core/addresses/address.ts";
import type { Mapping } from "../../process/settings/mapping.ts";
import type { Secret } from "../config/secret.ts";
import type { HttpClient } from "../http/client.ts";
import type { Endpoint } from "../http/endpoint.ts";

/** An API to write records through: what its entry in the config may say, and how it is opened. */
export type TargetKind<Config> = Mapping<Endpoint> & {
  /** Whether it can make a record where there is none. */
  readonly canCreate: boolean;
  open(config: Config, connect: (endpoint: Endpoint) => Promise<HttpClient>): Promise<RecordTarget>;
};

/** What the rest of the program knows of an entry of `targets:`; its other settings are for its API alone. */
export type TargetConfig = Endpoint & {
  readonly name: string;
  readonly api: string;
  /** Targets with the same service and the same token share a quota. */
  readonly token?: Secret;
  /** With which `moor list` and the like ask this one too; left out where they do so by themselves. */
  readonly flags?: string;
  /** What is typed for moor where that does not do, as in a clone. */
  readonly program?: string;
};

/** A place that holds records. Nothing here throws for what a service may answer. */
export type RecordTarget = {
  replace(order: ReplaceOrder, signal: AbortSignal): Promise<WriteOutcome>;
  /** What the record of that name and type holds now. */
  current(order: Omit<ReplaceOrder, "value">, signal: AbortSignal): Promise<Lookup<Held>>;
  zones(signal: AbortSignal): Promise<Lookup<readonly ListedZone[]>>;
  records(zone: string, signal: AbortSignal): Promise<Lookup<readonly ListedRecord[]>>;
  record(id: string, signal: AbortSignal): Promise<Lookup<ListedRecord>>;
  close(): void;
};

export type ReplaceOrder = {
  readonly zone: string;
  readonly name: string;
  readonly family: Family;
  readonly value: string;
  /** Without it the record keeps its own. */
  readonly ttl?: number;
  /** Without it the record is found by zone, name and type. */
  readonly recordId?: string;
  /** Make the record when there is none; an API that cannot leaves it at saying so. */
  readonly create?: boolean;
};

/** Texts are stable from one try to the next, so that a failure that goes on is recognised as the same. */
export type TargetFault = {
  readonly kind:
    | "missing"
    | "ambiguous"
    | "refused"
    | "unauthorised"
    /** May go well another time. */
    | "later";
  readonly because: string;
  readonly todo: string;
  /** The service gave no answer. */
  readonly unreached?: boolean;
  /** The service fails as a whole, and not for this record alone. */
  readonly ofService?: boolean;
  /** Milliseconds the service asked us to stay away. */
  readonly retryAfter?: number;
  /** The service's own word for it, where it has one. */
  readonly code?: string;
  /** The address was written; what failed came after it. */
  readonly afterWrite?: boolean;
};

/** How a write ended. */
export type WriteOutcome =
  /** The record holds what was ordered: it was read, or the service sent back all of it. */
  | { readonly kind: "done"; readonly recordId: string; readonly ttl: Held["ttl"] }
  /** Nothing was stored: the API itself said so, or nothing was sent. */
  | { readonly kind: "refused"; readonly fault: TargetFault }
  /** Nobody knows what the record holds until it is read. */
  | { readonly kind: "unknown"; readonly fault: TargetFault };

export type Held = {
  readonly values: readonly string[];
  /** Null when the record takes the zone's. */
  readonly ttl: number | null;
};

export type Lookup<T> = { readonly kind: "found"; readonly value: T } | TargetFault;

export type ListedZone = { readonly id: string; readonly name: string; readonly ttl?: number };

export type ListedRecord = {
  readonly id: string;
  readonly zoneId: string;
  readonly name: string;
  readonly type: string;
  readonly value: string;
  readonly ttl?: number;
};
