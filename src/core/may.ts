import { parseNetwork } from "./addresses/network.ts";
import { comesFrom } from "./addresses/peer-address.ts";
import type { Instant } from "./instant.ts";
import type { RecordType } from "./rdata/table.ts";

/** What a token allows. A missing field is no limit; an empty list allows nothing. */
export type Scope = {
  readonly access: "read" | "write";
  /** Canonical zone names. */
  readonly zones?: readonly string[];
  /** In each allowed zone, only sets that match one of these rules. */
  readonly sets?: readonly SetRule[];
  /** From this instant on, the token allows nothing. */
  readonly expires?: Instant;
  /** Where requests may come from: `192.0.2.0/24`, `2001:db8::/32`, or one address. */
  readonly networks?: readonly string[];
  /** A write is answered when the provider of a published zone has it. */
  readonly confirm?: "provider";
};

export type SetRule = { readonly owner?: string; readonly types?: readonly RecordType[] };

/** The default of a token. */
export const wholeAccount: Scope = { access: "write" };

/** Whether a token may write every zone, and create and delete zones. */
export const writesAllZones = ({ access, zones, sets }: Scope): boolean =>
  access === "write" && zones === undefined && sets === undefined;

/** Whether a token is for exactly this name in this zone, perhaps among others: it names both. */
export const isMadeFor = ({ zones, sets }: Scope, zone: string, owner: string): boolean =>
  (zones?.includes(zone) ?? false) && (sets?.some((rule) => rule.owner === owner) ?? false);

/** Zone names and owners are canonical. `from` is the address of the caller, if that is known. */
export type Operation = { readonly now: Instant; readonly from?: string | undefined } & (
  | { readonly kind: "list-zones" }
  | { readonly kind: "create-zone" | "read-zone" | "write-zone" | "delete-zone"; readonly zone: string }
  | {
      readonly kind: "read-set" | "write-set";
      readonly zone: string;
      readonly owner: string;
      readonly type: RecordType;
    }
  | { readonly kind: "administer" }
);

export type Refusal =
  | "expired"
  | "network-not-in-scope"
  | "zone-not-in-scope"
  | "set-not-in-scope"
  | "account-not-in-scope"
  | "read-only";

export type Verdict = { readonly kind: "yes" } | { readonly kind: "no"; readonly because: Refusal };

/**
 * All APIs ask this one function. A zone or set outside the scope does not exist for the token, so that is checked
 * before `read-only`. `list-zones` is always allowed: the list contains only the zones that the token may read.
 */
export function may(scope: Scope, operation: Operation): Verdict {
  const because =
    whenAndWhere(scope, operation) ??
    what(scope, operation) ??
    (scope.access === "read" && !isRead(operation) ? "read-only" : undefined);
  return because === undefined ? yes : { kind: "no", because };
}

const yes: Verdict = { kind: "yes" };

function whenAndWhere(scope: Scope, { now, from }: Operation): Refusal | undefined {
  if (scope.expires !== undefined && now >= scope.expires) return "expired";
  if (scope.networks === undefined) return undefined;
  const networks = scope.networks.flatMap((text) => parseNetwork(text) ?? []);
  return comesFrom(from, networks) ? undefined : "network-not-in-scope";
}

function what(scope: Scope, operation: Operation): Refusal | undefined {
  switch (operation.kind) {
    case "list-zones":
      return undefined;
    case "administer":
      return scope.zones === undefined && scope.sets === undefined ? undefined : "account-not-in-scope";
    case "read-zone":
      return zoneRefusal(scope, operation.zone);
    case "create-zone":
    case "write-zone":
    case "delete-zone":
      // Each of these touches every set of the zone.
      return zoneRefusal(scope, operation.zone) ?? (scope.sets === undefined ? undefined : "set-not-in-scope");
    case "read-set":
    case "write-set":
      return (
        zoneRefusal(scope, operation.zone) ??
        (scope.sets === undefined || scope.sets.some((rule) => matches(rule, operation.owner, operation.type))
          ? undefined
          : "set-not-in-scope")
      );
  }
}

const zoneRefusal = (scope: Scope, zone: string): Refusal | undefined =>
  scope.zones === undefined || scope.zones.includes(zone) ? undefined : "zone-not-in-scope";

const matches = (rule: SetRule, owner: string, type: RecordType): boolean =>
  (rule.owner === undefined || rule.owner === owner) && (rule.types === undefined || rule.types.includes(type));

/** Whether there can be a zone that the token may replace as a whole: only then may it send a zone file. */
export const mayWriteZones = ({ access, zones, sets }: Scope): boolean =>
  access === "write" && sets === undefined && zones?.length !== 0;

/** The only owners whose sets a token can see, sorted and without duplicates; undefined when owners are not limited. */
export function ownersSeen({ sets }: Scope): readonly string[] | undefined {
  const owners = new Set<string>();
  for (const { owner } of sets ?? [{}]) {
    if (owner === undefined) return undefined;
    owners.add(owner);
  }
  return [...owners].sort();
}

/** The only types of sets that a token can see; undefined when types are not limited. */
export function typesSeen({ sets }: Scope): readonly RecordType[] | undefined {
  const types = new Set<RecordType>();
  for (const rule of sets ?? [{}]) {
    if (rule.types === undefined) return undefined;
    for (const type of rule.types) types.add(type);
  }
  return [...types].sort();
}

const isRead = ({ kind }: Operation): boolean => kind === "list-zones" || kind === "read-zone" || kind === "read-set";
