import { setImmediate as nextTurn } from "node:timers/promises";
import type { Instant } from "../../core/instant.ts";
import { keyOf, type SetKey } from "../../core/records/rrset.ts";
import { isOfService } from "../../providers/answers/service-fault.ts";
import type { ChangeOutcome } from "../../providers/provider.ts";
import type { LoggedChange, PublishedContent, PublishedSet, Zone } from "../model.ts";
import type { RecordStore } from "../store/port.ts";
import { byProvider, contentIn } from "./theirs.ts";

/** The provider refuses this set or a part of it, not everything. */
export const isOfSet = (outcome: Exclude<ChangeOutcome, { kind: "done" | "drifted" }>): boolean =>
  (outcome.kind === "refused" || (outcome.kind === "unknown" && outcome.fault.kind === "refused")) &&
  !isOfService(outcome.fault) &&
  outcome.fault.kind !== "unauthorised" &&
  outcome.fault.kind !== "missing";

/** A set and what is known about it. */
export type SetWork = SetKey & {
  readonly key: string;
  /** Its row in the store; undefined if there is none. */
  readonly stored: PublishedSet | undefined;
  readonly row: PublishedSet;
};

/** What makes the set at the provider that of `ours`. */
export const changeOf = ({
  owner,
  type,
  ours,
  row: { held },
}: SetWork & { readonly ours: PublishedContent | null }) => ({
  owner,
  type,
  content: ours ?? undefined,
  expected: held ?? ("missing" as const),
});

/** What was held may not be there any more: as after a request whose outcome is not known. */
export const doubt = (rows: readonly PublishedSet[]): readonly SetWork[] =>
  rows
    .filter(({ sent, theirs }) => sent === undefined && theirs === undefined)
    .map((stored) => {
      const { owner, type, held } = stored;
      return { owner, type, key: keyOf(stored), stored, row: { ...stored, sent: held } };
    });

/** Stores `row` of each set, unless its row is no longer `stored`: what somebody stored meanwhile is newer. */
export async function saveRows<T extends SetWork>(
  store: Pick<RecordStore, "replacePublishedSets">,
  zone: number,
  works: readonly T[],
  now: Instant,
): Promise<{ readonly saved: readonly T[]; readonly lost: readonly T[] }> {
  const changed = works.map((work) => ({ ...work, row: { ...work.row, at: now } }));
  const changes = changed.map(({ stored: before, row: after }) => ({ before, after }));
  const replaced = new Set((await store.replacePublishedSets(zone, changes)).map(keyOf));
  return {
    saved: changed.filter(({ key }) => replaced.has(key)).map((work) => ({ ...work, stored: work.row })),
    lost: works.filter(({ key }) => !replaced.has(key)),
  };
}

/** What is known about a set after it was sent. */
export function rowAfter(
  { row, ours }: { readonly row: PublishedSet; readonly ours: PublishedContent | null },
  outcome: Exclude<ChangeOutcome, { kind: "drifted" }>,
): PublishedSet {
  const settledRow = { ...row, sent: undefined, refused: undefined };
  if (outcome.kind !== "done" && isOfSet(outcome))
    return { ...row, sent: ours, refused: { content: ours, words: outcome.fault.because } };
  switch (outcome.kind) {
    case "done":
      return { ...settledRow, held: ours && { ttl: outcome.set ? outcome.set.ttl : ours.ttl, values: ours.values } };
    case "refused":
    case "waiting":
      return settledRow;
    case "unknown":
      return { ...row, refused: undefined, sent: ours };
    default:
      return outcome satisfies never;
  }
}

/** What somebody wrote at the provider is what it holds, by the drift rule of the zone. */
export const asTheirs = (row: PublishedSet): PublishedSet => ({
  ...row,
  held: contentIn(row.theirs),
  theirs: undefined,
  refused: undefined,
});

/** A name may have a CNAME only when its other sets are gone, and the other way round. */
export const deletionsFirst = <T extends { readonly owner: string; readonly ours: PublishedContent | null }>(
  works: readonly T[],
): readonly T[] =>
  [...Map.groupBy(works, ({ owner }) => owner).values()].flatMap((same) => [
    ...same.filter(({ ours }) => ours === null),
    ...same.filter(({ ours }) => ours !== null),
  ]);

export const sameRow = ({ at: _, ...a }: PublishedSet, { at: __, ...b }: PublishedSet): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

/** Milliseconds in which a request may still be carried out whose outcome was lost. */
const latest = 3_600_000;

type Late = { readonly content: PublishedContent | null; readonly until: Instant };

/**
 * What was sent without a known outcome: if the provider has it later, nobody else wrote it there. Or, with another
 * time, what was replaced: a read that shows it may be stale.
 */
export class LateRequests {
  readonly #time: number;
  readonly #bySet = new Map<string, readonly Late[]>();

  constructor(time = latest) {
    this.#time = time;
  }

  add(key: string, content: PublishedContent | null, now: Instant): void {
    // All are kept for the same time, so those that are over come first.
    for (const [each, late] of this.#bySet) {
      if (late.some(({ until }) => until >= now)) break;
      this.#bySet.delete(each);
    }
    const same = JSON.stringify(content);
    const others = this.#lateOf(key, now).filter((late) => JSON.stringify(late.content) !== same);
    this.#bySet.delete(key);
    this.#bySet.set(key, [...others, { content, until: now + this.#time }]);
  }

  of(key: string, now: Instant): readonly (PublishedContent | null)[] {
    return this.#lateOf(key, now).map(({ content }) => content);
  }

  #lateOf(key: string, now: Instant): readonly Late[] {
    return this.#bySet.get(key)?.filter(({ until }) => until >= now) ?? [];
  }
}

/** Rows of the log per read. */
const rowsAtOnce = 1_000;

/**
 * The sets that these writes have changed, by their serials; and by which write the rule of the zone has replaced a set
 * since. Reads the history once, back to the oldest of them; the rows of a write are contiguous in it.
 */
export async function changedIn(
  store: Pick<RecordStore, "historyOf">,
  zone: Zone,
  serials: readonly number[],
  withDefault: readonly SetKey[],
): Promise<{
  readonly changed: ReadonlyMap<number, readonly SetKey[]>;
  readonly replaced: ReadonlyMap<string, number>;
}> {
  const found = new Map<number, Map<string, SetKey>>();
  const replaced = new Map<string, number>();
  const wanted = new Set(serials);
  for (let before: number | undefined, isEnd = wanted.size === 0; !isEnd; await nextTurn()) {
    const rows = await store.historyOf(zone, { before, limit: rowsAtOnce });
    for (const { actor, serial, change } of rows)
      if (actor.startsWith(byProvider) && "owner" in change && !replaced.has(keyOf(change)))
        replaced.set(keyOf(change), serial);
    for (const { serial, change } of rows.filter((row) => wanted.has(row.serial))) {
      const places = found.get(serial) ?? new Map<string, SetKey>();
      found.set(serial, places);
      for (const { owner, type } of changedBy(change, withDefault)) places.set(keyOf({ owner, type }), { owner, type });
    }
    const last = rows.at(-1);
    before = last?.position;
    isEnd = rows.length < rowsAtOnce || (found.size === wanted.size && !wanted.has(last?.serial ?? 0));
  }
  return { changed: new Map([...found].map(([serial, places]) => [serial, [...places.values()]])), replaced };
}

/**
 * The sets that a change is about. A new default TTL changes those that have no TTL of their own; the publisher may
 * also be asked for sets that did not change.
 */
export function changedBy(change: LoggedChange["change"], withDefault: readonly SetKey[]): readonly SetKey[] {
  if (change.kind !== "settings") return [change];
  const { before, after } = change;
  const asked = before.published?.asked === after.published?.asked ? [] : (after.published?.askedFor ?? []);
  return [...(before.ttl === after.ttl ? [] : withDefault), ...asked];
}
