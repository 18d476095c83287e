import { parseNetwork } from "./addresses/network.ts";
import { comesFrom } from "./addresses/peer-address.ts";
import type { Instant } from "./instant.ts";
import type { RecordType } from "./rdata/table.ts";

/** What a token opens. What is absent is not limited; an empty list opens nothing. */
export type Scope = {
  readonly access: "read" | "write";
  /** Canonical zone names. */
  readonly zones?: readonly string[];
  /** In each zone that is open, only sets that one of these rules matches. */
  readonly sets?: readonly SetRule[];
  /** The first instant at which the token opens nothing. */
  readonly expires?: Instant;
  /** Where requests may come from: `192.0.2.0/24`, `2001:db8::/32`, or one address. */
  readonly networks?: readonly string[];
};

export type SetRule = { readonly owner?: string; readonly types?: readonly RecordType[] };

/** As a token has it by default. */
export const wholeAccount: Scope = { access: "write" };

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
 * One answer for every face. A zone or set outside the scope does not exist for the token, so that comes before
 * `read-only`. `list-zones` is open to all: the list is then of the zones that it may read.
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

/** Whether there can be a zone that it may replace as a whole: only such a token may send a whole zone file. */
export const mayWriteZones = ({ access, zones, sets }: Scope): boolean =>
  access === "write" && sets === undefined && zones?.length !== 0;

/** The only owners of whose sets a token can see any, each once and in order; undefined: it may see some of any owner. */
export function ownersSeen({ sets }: Scope): readonly string[] | undefined {
  const owners = new Set<string>();
  for (const { owner } of sets ?? [{}]) {
    if (owner === undefined) return undefined;
    owners.add(owner);
  }
  return [...owners].sort();
}

/** The only types of which a token can see any set; undefined: it may see some of any type. */
export function typesSeen({ sets }: Scope): readonly RecordType[] | undefined {
  const types = new Set<RecordType>();
  for (const rule of sets ?? [{}]) {
    if (rule.types === undefined) return undefined;
    for (const type of rule.types) types.add(type);
  }
  return [...types].sort();
}

const isRead = ({ kind }: Operation): boolean => kind === "list-zones" || kind === "read-zone" || kind === "read-set";
