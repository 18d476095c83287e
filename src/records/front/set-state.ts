import { typesMadeBySigning } from "../../core/dnssec/generated-types.ts";
import { apex } from "../../core/names/name.ts";
import type { RecordType } from "../../core/rdata/table.ts";
import type { RRset } from "../../core/records/rrset.ts";
import { neverRead, type PublishedContent, type PublishedSet, type PublishedZone, type Zone } from "../model.ts";

export type SetState = "published" | "waiting" | "refused" | "drifted";

/** The default TTLs: of the zone here, and of the zone at the provider, if it has one. */
export type DefaultTtls = { readonly here: number; readonly there: number | undefined };

export const ttlsOf = ({ settings }: Zone, there: number | undefined): DefaultTtls => ({ here: settings.ttl, there });

/** What is to be published. The TTL is always explicit: the provider's default may change. */
export const contentOf = (set: RRset | undefined, { here }: DefaultTtls): PublishedContent | null =>
  set === undefined || set.records.length === 0
    ? null
    : { ttl: set.ttl ?? here, values: set.records.map(({ rdata }) => rdata).toSorted() };

/** Whether both are served alike. */
export function isSameContent(a: PublishedContent | null, b: PublishedContent | null, { there }: DefaultTtls): boolean {
  if (a === null || b === null) return a === b;
  return (
    (a.ttl ?? there) === (b.ttl ?? there) &&
    a.values.length === b.values.length &&
    a.values.every((value, at) => value === b.values[at])
  );
}

/** What a set is, from what is stored here and what is known about the provider (decisions/0021 has the table). */
export function stateOf(ours: PublishedContent | null, row: PublishedSet | undefined, ttls: DefaultTtls): SetState {
  if (row?.theirs !== undefined) return "drifted";
  if (row?.sent !== undefined) return "waiting";
  if (isSameContent(row?.held ?? null, ours, ttls)) return "published";
  return row?.refused && isSameContent(row.refused.content, ours, ttls) ? "refused" : "waiting";
}

/** What is shown: nothing is known about sets before the zone was read with its new token. */
export function shownState(
  ours: PublishedContent | null,
  row: PublishedSet | undefined,
  zone: Zone,
  { ttl, readAt }: PublishedZone,
): SetState {
  const state = stateOf(ours, row, ttlsOf(zone, ttl));
  return state === "published" && readAt === neverRead && (ours || row) ? "waiting" : state;
}

/** NS and SOA of the zone itself are the provider's, and so is what signing makes. */
export const isProviders = ({ owner, type }: { readonly owner: string; readonly type: RecordType }): boolean =>
  (owner === apex && (type === "NS" || type === "SOA")) || typesMadeBySigning.includes(type);
