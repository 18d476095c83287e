import type { Address } from "../../core/addresses/address.ts";
import type { Network } from "../../core/addresses/network.ts";
import type { RecordType } from "../../core/rdata/table.ts";
import type { RRset } from "../../core/records/rrset.ts";
import type { Fault } from "../../core/result.ts";
import type { OwnSets } from "../../core/zone-file/sets.ts";
import type { Action, PrimaryServer, RecordInZone, Zone, ZoneKey, ZoneSettings } from "../model.ts";
import type { NotDone } from "../queries/permitted-view.ts";
import type { IdempotencyKey } from "../store/port.ts";

/** What a caller asks for and what it gets, as the APIs and the operations of the service agree on it. */

export type ValueDraft = { readonly value: string; readonly comment: string };

export type SetDraft = {
  readonly records: readonly ValueDraft[];
  /** Null: the zone's; undefined: not given. */
  readonly ttl?: number | null | undefined;
  readonly labels?: Readonly<Record<string, string>>;
  readonly locked?: boolean;
};

/** What the record-set API can do to one set. */
export type SetEdit =
  /** `put` creates the set or replaces its records; TTL and labels stay unless given. */
  | { readonly kind: "create" | "put" | "replace" | "add" | "remove" | "comment"; readonly draft: SetDraft }
  | { readonly kind: "ttl"; readonly ttl: number | null }
  | { readonly kind: "lock"; readonly locked: boolean }
  /** Without labels it changes nothing, which is not an error. */
  | { readonly kind: "label"; readonly labels: SetDraft["labels"] | undefined }
  | { readonly kind: "delete" };

/** One of several sets that change together: its new content, or that it is deleted. */
export type SetChange = {
  readonly name: string;
  readonly type: string;
  readonly to: SetDraft | "gone";
};

export type SetTarget = { readonly zone: ZoneKey; readonly name: string; readonly type: string };

/** The set after the operation, undefined if it was deleted. */
export type SetDone = {
  readonly kind: "done";
  readonly zone: Zone;
  readonly set: RRset | undefined;
  readonly made: boolean;
};

/** An entry that was refused earlier is replaced by its faults. */
export type OrFaults<T> = T | { readonly faults: readonly Fault[] };

/** The outcome of one entry; `unprocessed` if it is valid but another one is not. */
export type BulkOutcome =
  | { readonly kind: "done"; readonly recordInZone: RecordInZone }
  | { readonly kind: "unprocessed" }
  | NotDone;

/** The outcome for one host. */
export type HostOutcome =
  | { readonly kind: "changed" | "unchanged"; readonly addresses: readonly string[] }
  | { readonly kind: "not-a-full-name" | "unknown" | "read-only" }
  | { readonly kind: "refused"; readonly reason: string };

export type ServerDraft = Pick<PrimaryServer, "address" | "port" | "tsig">;

export type NewZoneDraft = {
  readonly name: string;
  readonly mode?: ZoneSettings["mode"];
  readonly ttl?: number | undefined;
  readonly labels?: Readonly<Record<string, string>>;
  readonly primaries?: readonly ServerDraft[];
  readonly locked?: boolean;
  /** The initial content of a primary zone; absent: only its SOA record. */
  readonly content?:
    | { readonly kind: "sets"; readonly sets: readonly (SetDraft & { readonly name: string; readonly type: string })[] }
    | { readonly kind: "file"; readonly text: string; readonly own?: OwnSets | undefined }
    /** From a provider, whose nameservers stay. */
    | { readonly kind: "taken"; readonly sets: readonly RRset[]; readonly ttl: number | undefined };
  /** As in `Command`. */
  readonly isTrial?: boolean | undefined;
};

export type ServerInZone = { readonly zone: Zone; readonly server: PrimaryServer };

/** Options of a write by an API that stores its writes as actions. */
export type IdempotencyOption = { readonly idempotencyKey?: IdempotencyKey };

export type Done = { readonly kind: "done" };

/** With the stored action, and the serial after the write; the zone may have a newer one by now. */
export type Written<Result extends Done = Done> =
  | (Result & { readonly action: Action | undefined; readonly serial: number })
  | NotDone;

/** The addresses that a router requests for its hosts. A prefix replaces the network part of a host's addresses. */
export type WantedAddresses = {
  readonly ipv4?: Address;
  readonly ipv6?: Address | { readonly prefix: Network };
};

/** Undefined: not a fully qualified name. */
export type Host = string | undefined;

export type RecordDraft = {
  readonly type: RecordType;
  /** Returned as sent. */
  readonly name: string;
  readonly value: string;
  /** The meaning of the value in zone-file syntax. */
  readonly text: string;
  /** Undefined: not given. */
  readonly ttl: number | undefined;
};

/** A draft and the zone that it names. */
export type DraftInZone = { readonly zoneId: string; readonly draft: RecordDraft };
