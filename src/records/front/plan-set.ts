import type { ProviderRules } from "../../providers/provider-calls.ts";
import type { PublishedContent, PublishedSet } from "../model.ts";
import { type DefaultTtls, isSameContent, stateOf } from "./set-state.ts";

/** What to do next about one set. */
export type SetPlan =
  | { readonly kind: "nothing" }
  | { readonly kind: "failed"; readonly because: string }
  /** The provider may hold what was sent, or what it held before. */
  | { readonly kind: "read" }
  | { readonly kind: "send" };

export function planSet(ours: PublishedContent | null, row: PublishedSet | undefined, ttls: DefaultTtls): SetPlan {
  const state = stateOf(ours, row, ttls);
  switch (state) {
    case "published":
      return { kind: "nothing" };
    case "drifted":
      return isTaken(ours, row?.theirs, ttls) ? { kind: "read" } : { kind: "failed", because: drifted };
    case "refused":
      return { kind: "failed", because: row?.refused?.words ?? "" };
    case "waiting":
      return row?.sent === undefined ? { kind: "send" } : { kind: "read" };
    default:
      return state satisfies never;
  }
}

/** The set here is what the provider was last seen to hold: the drift ends if that is still so. */
const isTaken = (ours: PublishedContent | null, theirs: Theirs | undefined, ttls: DefaultTtls): boolean =>
  theirs !== undefined && isReadableContent(theirs) && isSameContent(ours, theirs, ttls);

export const drifted = "somebody changed this set at the provider; take theirs, or put ours back";

/** What a read has shown. */
export type Theirs = PublishedContent | { readonly unreadable: string } | null;

export const isReadableContent = (theirs: Theirs): theirs is PublishedContent | null =>
  theirs === null || !("unreadable" in theirs);

/** What is known about the provider when a set was read. */
export type ReadAt = {
  /** The default TTLs before the read, and now. */
  readonly before: DefaultTtls;
  readonly now: DefaultTtls;
  readonly rules?: Pick<ProviderRules, "writesInSteps">;
  /** What was sent before without a known outcome. */
  readonly late?: readonly (PublishedContent | null)[];
};

/**
 * What is known about a set after it was read: the provider holds what moor knew or sent, or the same as the set
 * here, or something else.
 */
export function afterRead(
  row: PublishedSet,
  theirs: Theirs,
  ours: PublishedContent | null,
  { before, now, rules, late = [] }: ReadAt,
): { readonly kind: "known" | "drifted"; readonly row: PublishedSet } {
  const { held, sent, refused } = row;
  if (!isReadableContent(theirs)) return { kind: "drifted", row: { ...row, sent: undefined, theirs } };
  // A default TTL that was changed at the provider is a change of all sets that use it.
  const isHeld =
    isSameContent(held, theirs, before) && isSameContent(held, theirs, now) && !ttlMoved(theirs, { before, now });
  const isOwn = [...(sent === undefined ? [] : [sent]), ...late].some(
    (own) =>
      isSameContent(own, theirs, now) || (rules?.writesInSteps === true && isPartOfWrite({ held, own }, theirs, now)),
  );
  const isStored = refused !== undefined && isSameContent(refused.content, theirs, now);
  const knownRow = {
    ...row,
    held: theirs,
    sent: undefined,
    theirs: undefined,
    refused: isStored ? undefined : refused,
  };
  if (isHeld || isOwn || isSameContent(ours, theirs, now)) return { kind: "known", row: knownRow };
  return { kind: "drifted", row: { ...row, sent: undefined, theirs } };
}

/**
 * Whether a provider that stores values and TTL one after the other has stored only some of them: the rest was lost or
 * refused.
 */
function isPartOfWrite(
  { held, own }: { readonly held: PublishedContent | null; readonly own: PublishedContent | null },
  theirs: PublishedContent | null,
  { there }: DefaultTtls,
): boolean {
  if (theirs === null) return false;
  const both = [held, own].filter((content) => content !== null);
  const kept = held?.values.filter((value) => own?.values.includes(value)) ?? [];
  return (
    both.some(({ ttl }) => (ttl ?? there) === (theirs.ttl ?? there)) &&
    theirs.values.every((value) => both.some(({ values }) => values.includes(value))) &&
    kept.every((value) => theirs.values.includes(value))
  );
}

const ttlMoved = (
  theirs: PublishedContent | null,
  { before, now }: { readonly before: DefaultTtls; readonly now: DefaultTtls },
): boolean => theirs?.ttl === null && before.there !== now.there;
