import type { RecordType } from "../core/rdata/table.ts";
import type { Lookup, ServiceFault } from "./answers/service-fault.ts";
import type { ListedZone, ProviderRules } from "./provider-calls.ts";

/**
 * The account of one token at a DNS provider, for all its zones. Open one per token: it keeps the budget of that token.
 * No method throws because of an answer.
 */
export type Provider = {
  /** Its name in messages. */
  readonly service: string;
  readonly rules: ProviderRules;
  /** Milliseconds until the provider takes requests of this token for the zone again; 0 if it takes them now. */
  wait(zone: string): number;
  zones(signal: AbortSignal): Promise<Lookup<readonly ListedZone[]>>;
  /** The whole zone. */
  sets(zone: string, signal: AbortSignal): Promise<Lookup<ProviderContent>>;
  /** Undefined if the zone exists, but the set does not. */
  set(zone: string, owner: string, type: RecordType, signal: AbortSignal): Promise<Lookup<ProviderSet | undefined>>;
  /**
   * Writes changes of one zone in as few requests as the provider allows, in their order; no two of the same set.
   * Returns one outcome per change, in the same order. A change that is refused does not stop the others.
   */
  write(zone: string, changes: readonly ProviderChange[], signal: AbortSignal): Promise<readonly ChangeOutcome[]>;
  /** How many writes were sent twice, after a lost connection: the first copy may be carried out later. */
  resent(): number;
  close(): void;
};

/** A set as moor stores it. */
export type ProviderSet = {
  /** Relative to the zone, and canonical; `@` for the zone itself. */
  readonly owner: string;
  readonly type: RecordType;
  /** Null if the set uses the zone's TTL; only where `rules.ttl.zoneDefault`. */
  readonly ttl: number | null;
  /** Canonical, as `Rdata.text`, in the order of the text. */
  readonly values: readonly string[];
  /** Its records differ in their TTL; `ttl` is that of one of them. */
  readonly hasMixedTtl?: boolean;
  readonly proxied?: true;
};

export type ProviderContent = {
  readonly sets: readonly ProviderSet[];
  /** What moor cannot represent: types that only the provider has, or data that moor cannot read. */
  readonly unreadable: readonly UnreadableSet[];
};

export type UnreadableSet = {
  readonly name: string;
  readonly type: string;
  readonly values: readonly string[];
  readonly because: string;
};

export type Content = Pick<ProviderSet, "values" | "ttl">;

export type ProviderChange = {
  readonly owner: string;
  readonly type: RecordType;
  /** The whole content of the set; undefined deletes it. `proxied`: if it is new; a set that exists stays as it is. */
  readonly content: (Content & Pick<ProviderSet, "proxied">) | undefined;
  /**
   * What the provider should hold before: if it holds something else, nothing is written. Where the provider has
   * conditions, it checks this itself; elsewhere the set is read first. Without it, whatever is there is replaced.
   */
  readonly expected?: Content | "missing" | undefined;
};

/** How one change ended. */
export type ChangeOutcome =
  /**
   * The provider holds exactly what was ordered: its answer says so, or a read after it. `set` is undefined after a
   * deletion. `wasThere`: nothing was sent, because a read showed what was ordered instead of what was expected.
   */
  | { readonly kind: "done"; readonly set: ProviderSet | undefined; readonly wasThere?: true }
  /** Nothing was stored: the provider does not hold what was expected, but this; undefined if there is no such set. */
  | { readonly kind: "drifted"; readonly set: ProviderSet | UnreadableSet | undefined }
  /** Nothing was stored, and the same change will be refused again. `because` has the provider's words. */
  | { readonly kind: "refused"; readonly fault: ServiceFault }
  /** What the provider holds is unknown until the set is read. */
  | { readonly kind: "unknown"; readonly fault: ServiceFault }
  /** Nothing was stored. The provider wants to be left alone for that many milliseconds; 0 if it does not say so. */
  | { readonly kind: "waiting"; readonly fault: ServiceFault; readonly retryAfter: number };
