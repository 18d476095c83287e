import { setImmediate as nextTurn } from "node:timers/promises";
import type { Instant } from "../../core/instant.ts";
import { typeName } from "../../core/rdata/table.ts";
import { keyOf, type SetKey } from "../../core/records/rrset.ts";
import { later } from "../../providers/answers/service-answer.ts";
import type { ServiceFault } from "../../providers/answers/service-fault.ts";
import type { ChangeOutcome, Provider, ProviderContent, ProviderSet, UnreadableSet } from "../../providers/provider.ts";
import type { PublishedContent, PublishedSet } from "../model.ts";
import type { RecordStore } from "../store/port.ts";
import { staleFor } from "./next-row.ts";
import type { OpenedAccount } from "./provider-accounts.ts";
import type { SetWork, Work } from "./read-works.ts";
import { type DefaultTtls, isReadableContent, isSameContent, type Theirs } from "./set-state.ts";

/** More sets than this are read with the whole zone. */
const mostSingleReads = 20;
/** Rows per read. */
const perPage = 1_000;

export const theirsOfSet = (set: ProviderSet | UnreadableSet | undefined): Theirs => {
  if (set === undefined) return null;
  if ("hasMixedTtl" in set && set.hasMixedTtl) return { unreadable: mixedTtls };
  return "because" in set ? { unreadable: set.because } : contentAt(set);
};

export const contentAt = ({ ttl, values, proxied }: ProviderSet): PublishedContent => ({
  ttl,
  values,
  ...(proxied && { proxied }),
});

/** What the provider holds of these sets, or why that is not known. */
export async function theirsOf(
  provider: Provider,
  zone: string,
  places: readonly SetKey[],
  signal: AbortSignal,
): Promise<{ readonly theirs: readonly Theirs[] } | { readonly fault: ServiceFault }> {
  if (places.length > (provider.rules.readsWholeZone ? 1 : mostSingleReads)) {
    const first = await provider.sets(zone, signal);
    if (first.kind !== "found") return { fault: first };
    const { by } = theirsIn(first.value);
    const isGone = (place: SetKey) => !by.has(keyOf(place));
    // The pages of a list may shift while it is read, and hide a set.
    const second = places.some(isGone) ? await provider.sets(zone, signal) : first;
    if (second.kind !== "found") return { fault: second };
    const both = new Map([...theirsIn(second.value).by, ...by]);
    return { theirs: places.map((place) => both.get(keyOf(place)) ?? null) };
  }
  const theirs: Theirs[] = [];
  for (const { owner, type } of places) {
    const found = await provider.set(zone, owner, type, signal);
    if (found.kind === "unsupported") theirs.push({ unreadable: found.because });
    else if (found.kind !== "found") return { fault: found };
    else theirs.push(theirsOfSet(found.value));
  }
  return { theirs };
}

/**
 * Reads again what a list of the whole zone does not have, and notes it in `by`: its pages may have shifted while it
 * was read, and hide a set.
 */
export async function confirmGone(
  provider: Provider,
  zone: string,
  gone: readonly SetKey[],
  by: Map<string, Theirs>,
  signal: AbortSignal,
): Promise<ServiceFault | undefined> {
  const found = await theirsOf(provider, zone, gone, signal);
  if ("fault" in found) return found.fault;
  for (const [at, place] of gone.entries()) by.set(keyOf(place), found.theirs[at] ?? null);
  return undefined;
}

const mixedTtls = "its records have different TTLs";

/** The records of a set have one TTL (RFC 2181 section 5.2): others cannot be represented. */
export function withoutMixedTtls({ sets, unreadable }: ProviderContent): ProviderContent {
  const mixed = sets.filter((set) => set.hasMixedTtl);
  if (mixed.length === 0) return { sets, unreadable };
  const notes = mixed.map(({ owner, type, values }) => ({
    name: owner,
    type: typeName(type),
    values,
    because: mixedTtls,
  }));
  return { sets: sets.filter((set) => !set.hasMixedTtl), unreadable: [...unreadable, ...notes] };
}

export function theirsIn(content: ProviderContent) {
  const { sets, unreadable } = withoutMixedTtls(content);
  const by = new Map<string, Theirs>(sets.map((set) => [keyOf(set), theirsOfSet(set)]));
  for (const set of unreadable) by.set(`${set.name} ${set.type}`, { unreadable: set.because });
  return { by, places: sets };
}

export async function allRows(
  store: Pick<RecordStore, "publishedSetsAfter">,
  zone: number,
): Promise<ReadonlyMap<string, PublishedSet>> {
  const all = new Map<string, PublishedSet>();
  for (let last: PublishedSet | undefined; ; ) {
    const rows = await store.publishedSetsAfter(zone, last, perPage);
    for (const row of rows) all.set(keyOf(row), row);
    last = rows.at(-1);
    if (rows.length < perPage) return all;
    await nextTurn();
  }
}

export const staleRead = ({ provider: { service } }: OpenedAccount): ServiceFault =>
  later(`${service} still shows what it held before the last write`);

type Replaced = { readonly content: PublishedContent | null; readonly until: Instant };

/**
 * What was, or may have been, replaced at the provider a moment ago: nothing is known from a read that shows it. In
 * memory only: after a restart, such a read counts.
 */
export class ReplacedContent {
  readonly #bySet = new Map<string, readonly Replaced[]>();

  /** `before` was stored as `after`. */
  note(key: string, before: PublishedSet | undefined, after: PublishedSet, now: Instant): void {
    const held = before?.held ?? null;
    if (isSameContent(held, after.held, noDefaults)) return;
    // All are kept for the same time, so those that are over come first.
    for (const [each, replaced] of this.#bySet) {
      if (replaced.some(({ until }) => until >= now)) break;
      this.#bySet.delete(each);
    }
    const sent = before?.sent ?? [];
    // A write has also replaced what an earlier request may have stored.
    const stored = sent.some(({ until }) => until === undefined) ? sent.map(({ content }) => content) : [];
    const contents = [held, ...stored].filter((content) => !isSameContent(content, after.held, noDefaults));
    const others = this.#of(key, now);
    this.#bySet.delete(key);
    this.#bySet.set(key, [...others, ...contents.map((content) => ({ content, until: now + staleFor }))]);
  }

  /** By a read before or after a write. */
  isShownBy(outcome: ChangeOutcome, work: Work, ttls: DefaultTtls, now: Instant): boolean {
    if (outcome.kind === "drifted") return this.isShown(work, theirsOfSet(outcome.set), ttls, now);
    return outcome.kind === "done" && this.isShown(work, work.ours, ttls, now);
  }

  isShown({ key, row }: SetWork, theirs: Theirs, ttls: DefaultTtls, now: Instant): boolean {
    if (!isReadableContent(theirs) || isSameContent(row.held, theirs, ttls)) return false;
    return this.#of(key, now).some(({ content }) => isSameContent(content, theirs, ttls));
  }

  #of(key: string, now: Instant): readonly Replaced[] {
    return this.#bySet.get(key)?.filter(({ until }) => until >= now) ?? [];
  }
}

const noDefaults: DefaultTtls = { here: 0, there: undefined };
