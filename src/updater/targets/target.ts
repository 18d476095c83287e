import type { Family } from "../../core/addresses/address.ts";

/** A place that holds records. Nothing here throws for what a service may answer. */
export type RecordTarget = {
  replace(order: ReplaceOrder, signal: AbortSignal): Promise<ReplaceOutcome>;
  /** The values that the record of that name and type has now. */
  current(order: Omit<ReplaceOrder, "value">, signal: AbortSignal): Promise<Lookup<readonly string[]>>;
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
  /** Milliseconds the service asked us to stay away. */
  readonly retryAfter?: number;
  /** The service's own word for it, where it has one. */
  readonly code?: string;
  /** It came after a write that the service had taken: the record may hold the new address. */
  readonly afterWrite?: boolean;
};

export type ReplaceOutcome = { readonly kind: "replaced"; readonly recordId: string } | TargetFault;

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
