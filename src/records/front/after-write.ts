import { isOfService } from "../../providers/answers/service-fault.ts";
import type { ChangeOutcome } from "../../providers/provider.ts";
import type { HeldContent, LoggedChange, PublishedSet } from "../model.ts";
import type { RecordStore, SetPlace } from "../store/port.ts";
import { keyOf, theirsOfSet } from "./theirs.ts";

/** The provider refuses this set or a part of it, not everything. */
export const isOfSet = (outcome: Exclude<ChangeOutcome, { kind: "done" | "drifted" }>): boolean =>
  (outcome.kind === "refused" || (outcome.kind === "unknown" && outcome.fault.kind === "refused")) &&
  !isOfService(outcome.fault) &&
  outcome.fault.kind !== "unauthorised" &&
  outcome.fault.kind !== "missing";

/** What was held may not be there any more: as after a request whose outcome is not known. */
export const doubted = (rows: readonly PublishedSet[]): readonly PublishedSet[] =>
  rows
    .filter(({ sent, theirs }) => sent === undefined && theirs === undefined)
    .map((row) => ({ ...row, sent: row.held }));

/** What is known about a set after it was sent. */
export function rowAfter(
  { row, ours }: { readonly row: PublishedSet; readonly ours: HeldContent | null },
  outcome: ChangeOutcome,
): PublishedSet {
  const known = { ...row, sent: undefined, refused: undefined };
  if (outcome.kind !== "done" && outcome.kind !== "drifted" && isOfSet(outcome))
    return { ...row, sent: ours, refused: { content: ours, words: outcome.fault.because } };
  switch (outcome.kind) {
    case "done":
      return { ...known, held: ours && { ttl: outcome.set ? outcome.set.ttl : ours.ttl, values: ours.values } };
    case "drifted":
      return { ...known, theirs: theirsOfSet(outcome.set) };
    case "refused":
    case "waiting":
      return known;
    case "unknown":
      return { ...row, refused: undefined, sent: ours };
    default:
      return outcome satisfies never;
  }
}

/** A name may have a CNAME only when its other sets are gone, and the other way round. */
export const deletionsFirst = <T extends { readonly owner: string; readonly ours: HeldContent | null }>(
  works: readonly T[],
): readonly T[] =>
  [...Map.groupBy(works, ({ owner }) => owner).values()].flatMap((same) => [
    ...same.filter(({ ours }) => ours === null),
    ...same.filter(({ ours }) => ours !== null),
  ]);

export const sameRow = ({ at: _, ...a }: PublishedSet, { at: __, ...b }: PublishedSet): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

/** The sets that a change is about. A new default TTL changes those that have no TTL of their own. */
export function changedBy(change: LoggedChange["change"], withDefault: readonly SetPlace[]): readonly SetPlace[] {
  if (change.kind !== "settings") return [change];
  return change.before.ttl === change.after.ttl ? [] : withDefault;
}

const mayBeDecided = ({ theirs, refused }: PublishedSet): boolean => theirs !== undefined || refused !== undefined;

/**
 * Stores what a read has shown. Somebody may have decided about a refused or drifted set since its row was read: that
 * is not undone. Returns the keys of those.
 */
export async function saveSeen(
  store: Pick<RecordStore, "replacePublishedSet" | "putPublishedSets">,
  zone: number,
  seen: readonly (readonly [before: PublishedSet, after: PublishedSet])[],
): Promise<ReadonlySet<string>> {
  const decided = new Set<string>();
  for (const [before, after] of seen)
    if (mayBeDecided(before) && !(await store.replacePublishedSet(zone, before, after))) decided.add(keyOf(before));
  const others = seen.flatMap(([before, after]) => (mayBeDecided(before) ? [] : [after]));
  if (others.length > 0) await store.putPublishedSets(zone, others);
  return decided;
}
