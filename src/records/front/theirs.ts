import { setImmediate as nextTurn } from "node:timers/promises";
import { typeName } from "../../core/rdata/table.ts";
import { keyOf, type SetKey } from "../../core/records/rrset.ts";
import type { ServiceFault } from "../../providers/answers/service-fault.ts";
import type { Provider, ProviderContent, ProviderSet, UnreadableSet } from "../../providers/provider.ts";
import type { PublishedContent, PublishedSet } from "../model.ts";
import type { RecordStore } from "../store/port.ts";
import { isReadableContent, type Theirs } from "./plan-set.ts";

/** More sets than this are read with the whole zone. */
const mostSingleReads = 20;
/** Rows per read. */
const perPage = 1_000;

/** What the rule of a zone took was written by: no token is called that. */
export const byProvider = "provider ";

export const theirsOfSet = (set: ProviderSet | UnreadableSet | undefined): Theirs => {
  if (set === undefined) return null;
  if ("hasMixedTtl" in set && set.hasMixedTtl) return { unreadable: mixedTtls };
  return "because" in set ? { unreadable: set.because } : { ttl: set.ttl, values: set.values };
};

export const contentIn = (theirs: Theirs | undefined): PublishedContent | null =>
  theirs !== undefined && isReadableContent(theirs) ? theirs : null;

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
