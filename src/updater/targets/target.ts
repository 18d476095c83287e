import type { Family } from "../../core/addresses/address.ts";
import type { HttpClient } from "../../lib/http-client/client.ts";
import type { Endpoint } from "../../lib/http-client/endpoint.ts";
import type { Mapping } from "../../lib/settings/mapping.ts";
import type { Lookup, ServiceFault } from "../../providers/answers/service-fault.ts";
import type { CurrentContent, ListedZone } from "../../providers/provider-calls.ts";

/**
 * An API for writing records: the settings of its config entry, and how to open it. `connect` is for those that use
 * HTTP.
 */
export type TargetKind<Config> = Mapping<Pick<Endpoint, "url">> & {
  /** Whether it can create a missing record, set a TTL, write AAAA records, and remove a record. */
  readonly can: {
    readonly create: boolean;
    readonly ttl: boolean;
    readonly lowestTtl?: number;
    readonly ipv6?: false;
    readonly remove?: true;
  };
  open(config: Config, connect: Connect): Promise<RecordTarget>;
};

export type Connect = (endpoint: Endpoint) => Promise<HttpClient>;

/** A place that holds records. No method throws because of an answer of the service. */
export type RecordTarget = {
  replace(request: ReplaceRequest, signal: AbortSignal): Promise<WriteOutcome>;
  /**
   * Replaces records of one zone in one transaction, or in as few as the service allows. The outcomes are in the order
   * of the requests. Only for services that can.
   */
  readonly replaceAll?: (
    requests: readonly ReplaceRequest[],
    signal: AbortSignal,
  ) => Promise<readonly TogetherOutcome[]>;
  /** Removes the record if it holds this address and no other. Only for APIs that can. */
  readonly remove?: (request: ReplaceRequest, signal: AbortSignal) => Promise<RemoveOutcome>;
  /** `replace` also writes `otherAddress`: both addresses of a name are in one call. */
  readonly takesBoth?: boolean;
  /**
   * What `current` finds may not be served yet: only `replace` makes sure of the last step, no matter who wrote the
   * record.
   */
  readonly isServedLater?: boolean;
  /** The current content of the record with that name and type. */
  current(spec: RecordSpec, signal: AbortSignal): Promise<Lookup<CurrentContent>>;
  zones(signal: AbortSignal): Promise<Lookup<readonly ListedZone[]>>;
  records(zone: string, signal: AbortSignal): Promise<Lookup<readonly ListedRecord[]>>;
  record(id: string, signal: AbortSignal): Promise<Lookup<ListedRecord>>;
  close(): void;
};

/** Which record, and what the config says about it. */
export type RecordSpec = {
  readonly zone: string;
  readonly name: string;
  readonly family: Family;
  /** Without it, the record keeps its TTL. */
  readonly ttl?: number | undefined;
  /** Without it, the record is found by zone, name and type. */
  readonly recordId?: string | undefined;
  /** Create the record if it is missing. The config allows this only with an API that can. */
  readonly create?: boolean;
};

/** The address that a record should get. */
export type ReplaceRequest = RecordSpec & {
  readonly value: string;
  /** The address of the name's other family, for services that take both in one call. Absent if it is not known. */
  readonly otherAddress?: string | undefined;
};

/** A fault of the service, or of what it holds. */
export type TargetFault = ServiceFault;

/** How a write ended. */
export type WriteOutcome =
  /** The record holds what was requested: it was read back, or the service returned all of it. */
  /** `already`: it held that before, and nothing was changed. */
  | { readonly kind: "done"; readonly recordId: string; readonly ttl: CurrentContent["ttl"]; readonly already?: true }
  /** Nothing was stored: the API said so, or nothing was sent. */
  | { readonly kind: "refused"; readonly fault: TargetFault }
  /** What the record holds is unknown until it is read. */
  | { readonly kind: "unknown"; readonly fault: TargetFault };

/** `alone`: nothing was stored, perhaps because of another request. Writing it alone shows which one is wrong. */
export type TogetherOutcome = WriteOutcome | { readonly kind: "alone" };

export type RemoveOutcome =
  | { readonly kind: "removed" }
  /** It is missing, or holds something else. */
  | { readonly kind: "left"; readonly values: readonly string[] }
  | Extract<WriteOutcome, { readonly kind: "refused" | "unknown" }>;

export type ListedRecord = {
  readonly id: string;
  readonly zoneId: string;
  readonly name: string;
  readonly type: string;
  readonly value: string;
  readonly ttl?: number;
};
