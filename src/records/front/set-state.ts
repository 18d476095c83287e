import { typesMadeBySigning } from "../../core/dnssec/generated-types.ts";
import type { Instant } from "../../core/instant.ts";
import { apex } from "../../core/names/name.ts";
import type { RecordType } from "../../core/rdata/table.ts";
import type { RRset } from "../../core/records/rrset.ts";
import { neverRead, type PublishedContent, type PublishedSet, type PublishedZone, type Zone } from "../model.ts";

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

/** What a read has shown. */
export type Theirs = PublishedContent | { readonly unreadable: string } | null;

export const isReadableContent = (theirs: Theirs): theirs is PublishedContent | null =>
  theirs === null || !("unreadable" in theirs);

/**
 * The state of a set, from what is stored here and what is known about the provider: computed, never stored. What
 * changes that knowledge is in `next-row.ts`.
 *
 *                               refused ◀──── the provider refuses this content
 *                                  │ written here          │
 *              written here        ▼       sent            │        read: as here
 *   published ─────────────▶ to-send ─────────────▶ to-read ─────────────────▶ published
 *       ▲                     ▲   ▲ done, or read:      │ ▲                        │
 *       │ read after that     │   │ something else      │ └── another writer ◀─────┘
 *       │ request was over    │   └─────────────────────┤     sent something
 *   in-doubt ◀────────────────┼─────────────────────────┤
 *       as here, but an       │ decided                 │ read: somebody else's
 *       earlier request may   │                         ▼
 *       still replace it      └────────────────────── drifted ◀──── any read
 *
 * A set may be to be sent while an earlier request of it is in doubt. Nothing but a read that began after such a
 * request was certainly over ends the doubt: no answer to a later request, no restart and no decision does.
 */
export type SetState =
  | { readonly kind: "published" }
  /** It differs from what the provider holds. */
  | { readonly kind: "to-send" }
  /** A request is under way, or its outcome is not known: the provider may hold what was sent, or what it held. */
  | { readonly kind: "to-read" }
  /** The provider holds it, but may still carry out an earlier request with another content. */
  | { readonly kind: "in-doubt" }
  /** The provider refuses this content, with these words. */
  | { readonly kind: "refused"; readonly because: string }
  /** Somebody else changed it at the provider. */
  | { readonly kind: "drifted"; readonly because: string };

/** What people see. */
export type ShownState = "published" | "waiting" | "refused" | "drifted";

export function stateOf(
  ours: PublishedContent | null,
  row: Pick<PublishedSet, "held" | "sent" | "theirs" | "refused"> | undefined,
  ttls: DefaultTtls,
): SetState {
  const { held = null, sent = [], theirs, refused } = row ?? {};
  const isOurs = (content: PublishedContent | null) => isSameContent(content, ours, ttls);
  // If theirs was taken here, a read may show that the drift has ended.
  if (theirs !== undefined)
    return isReadableContent(theirs) && isOurs(theirs) ? { kind: "to-read" } : { kind: "drifted", because: drifted };
  if (sent.some(({ isRead }) => !isRead)) return { kind: "to-read" };
  if (isOurs(held)) return { kind: sent.every(({ content }) => isOurs(content)) ? "published" : "in-doubt" };
  return refused && isOurs(refused.content) ? { kind: "refused", because: refused.words } : { kind: "to-send" };
}

/** When a read will show more about a set that nothing is sent for; undefined if it would not. */
export function readWhen({ kind }: SetState, { sent }: Pick<PublishedSet, "sent">): Instant | undefined {
  if (sent === undefined || (kind !== "in-doubt" && kind !== "refused")) return undefined;
  return Math.max(...sent.map(({ until = 0 }) => until));
}

export const drifted = "somebody changed this set at the provider; take theirs, or put ours back";

const shownAs = {
  published: "published",
  "to-send": "waiting",
  "to-read": "waiting",
  "in-doubt": "waiting",
  refused: "refused",
  drifted: "drifted",
} as const satisfies Record<SetState["kind"], ShownState>;

/** What is shown: nothing is known about sets before the zone was read with its new token. */
export function shownState(
  ours: PublishedContent | null,
  row: PublishedSet | undefined,
  zone: Zone,
  { ttl, readAt }: PublishedZone,
): ShownState {
  const { kind } = stateOf(ours, row, ttlsOf(zone, ttl));
  return kind === "published" && readAt === neverRead && (ours || row) ? "waiting" : shownAs[kind];
}

/** NS and SOA of the zone itself are the provider's, and so is what signing makes. */
export const isProviders = ({ owner, type }: { readonly owner: string; readonly type: RecordType }): boolean =>
  (owner === apex && (type === "NS" || type === "SOA")) || typesMadeBySigning.includes(type);
