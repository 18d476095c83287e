import { isOfService } from "../../providers/answers/service-fault.ts";
import type { ChangeOutcome } from "../../providers/provider.ts";
import type { HeldContent, PublishedSet } from "../model.ts";
import { theirsOfSet } from "./theirs.ts";

/** The provider refuses this set, not everything. */
export const isOfSet = (outcome: Exclude<ChangeOutcome, { kind: "done" | "drifted" }>): boolean =>
  outcome.kind === "refused" &&
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
  switch (outcome.kind) {
    case "done":
      return { ...known, held: ours && { ttl: outcome.set ? outcome.set.ttl : ours.ttl, values: ours.values } };
    case "drifted":
      return { ...known, theirs: theirsOfSet(outcome.set) };
    case "refused":
      return isOfSet(outcome) ? { ...known, refused: { content: ours, words: outcome.fault.because } } : known;
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
