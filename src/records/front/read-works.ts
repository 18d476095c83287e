import { setImmediate as nextTurn } from "node:timers/promises";
import type { Instant } from "../../core/instant.ts";
import { keyOf, type RRset, type SetKey } from "../../core/records/rrset.ts";
import type { PublishedContent, PublishedSet, Zone } from "../model.ts";
import type { RecordStore } from "../store/port.ts";
import { nextRow, type SetEvent } from "./next-row.ts";
import { contentOf, type DefaultTtls, isProviders, stateOf } from "./set-state.ts";
import type { WaitingSerials } from "./waiting-serials.ts";

/** A set and what is known about it. */
export type SetWork = SetKey & {
  readonly key: string;
  /** Its row in the store; undefined if there is none. */
  readonly stored: PublishedSet | undefined;
  readonly row: PublishedSet;
};

export const learntAbout = (stored: PublishedSet, event: SetEvent): SetWork => {
  const { owner, type } = stored;
  return { owner, type, key: keyOf(stored), stored, row: nextRow(stored, event) };
};

/** A set as it is here, and the writes whose actions wait for it. */
export type Work = SetWork & {
  readonly ours: PublishedContent | null;
  readonly serials: readonly number[];
};

export const isDrifted = ({ row }: SetWork): boolean => row.theirs !== undefined;

/** Whether a read has shown something; otherwise it was stale. */
export const isRead = <T extends { readonly after: PublishedSet | undefined }>(
  work: T,
): work is T & { readonly after: PublishedSet } => work.after !== undefined;

/** Sets that are read from the store at a time. */
const perRead = 500;

type Options = {
  readonly store: Pick<RecordStore, "sets" | "publishedSetsAt">;
  readonly now: () => Instant;
};

type Here = { readonly zone: Zone; readonly ttls: DefaultTtls };

/** What is stored about these sets. */
export async function readWorks(
  options: Options,
  here: Here,
  places: readonly SetKey[],
  waiting: WaitingSerials,
): Promise<readonly Work[]> {
  const works: Work[] = [];
  for (let from = 0; from < places.length; from += perRead) {
    if (from > 0) await nextTurn();
    works.push(...(await readSome(options, here, places.slice(from, from + perRead), waiting)));
  }
  return works;
}

async function readSome(
  { store, now }: Options,
  { zone, ttls }: Here,
  places: readonly SetKey[],
  waiting: WaitingSerials,
): Promise<readonly Work[]> {
  const owners = [...new Set(places.map(({ owner }) => owner))];
  // What waits is noted before the sets are read: a later change is not in what is sent.
  const serials = places.map((place) => waiting.of(keyOf(place)));
  const sets = new Map((await store.sets(zone, { owners })).map((set) => [keyOf(set), set]));
  const rows = new Map((await store.publishedSetsAt(zone.number, owners)).map((row) => [keyOf(row), row]));
  return places.map(({ owner, type }, at) => {
    const key = keyOf({ owner, type });
    const stored = rows.get(key);
    const row = stored ?? { owner, type, held: null, at: now() };
    return { owner, type, key, stored, row, ours: contentOf(sets.get(key), ttls), serials: serials[at] ?? [] };
  });
}

/** The sets that are to be looked at; those that are gone here come first, as in every batch. */
export function unsettledSets(
  sets: readonly RRset[],
  rows: ReadonlyMap<string, PublishedSet>,
  ttls: DefaultTtls,
): readonly SetKey[] {
  const here = new Map(sets.map((set) => [keyOf(set), set]));
  const all = [...[...rows.values()].filter((row) => !here.has(keyOf(row))), ...here.values()];
  return all.filter((place) => {
    const [ours, row] = [contentOf(here.get(keyOf(place)), ttls), rows.get(keyOf(place))];
    const { kind } = stateOf(ours, row, ttls);
    const isOpen = kind === "to-send" || kind === "to-read" || row?.sent !== undefined;
    return isOpen && !isProviders(place);
  });
}

/** What makes the set at the provider that of `ours`. */
export const changeOf = ({ owner, type, ours, row: { held, wasProxied } }: Work) => ({
  owner,
  type,
  content: ours ? { ...ours, ...(wasProxied && { proxied: wasProxied }) } : undefined,
  expected: held ?? ("missing" as const),
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

/** A name may have a CNAME only when its other sets are gone, and the other way round. */
export const deletionsFirst = <T extends { readonly owner: string; readonly ours: PublishedContent | null }>(
  works: readonly T[],
): readonly T[] =>
  [...Map.groupBy(works, ({ owner }) => owner).values()].flatMap((same) => [
    ...same.filter(({ ours }) => ours === null),
    ...same.filter(({ ours }) => ours !== null),
  ]);

export const sameRow = (a: PublishedSet, b: PublishedSet | undefined): boolean =>
  JSON.stringify({ ...a, at: 0 }) === JSON.stringify({ ...b, at: 0 });
