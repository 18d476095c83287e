import { setImmediate as nextTurn } from "node:timers/promises";
import type { Instant } from "../../core/instant.ts";
import { keyOf, type RRset, type SetKey } from "../../core/records/rrset.ts";
import type { PublishedContent, PublishedSet, Zone } from "../model.ts";
import type { RecordStore } from "../store/port.ts";
import type { SetWork } from "./after-write.ts";
import { planSet } from "./plan-set.ts";
import { contentOf, type DefaultTtls, isProviders } from "./set-state.ts";
import type { WaitingSerials } from "./waiting-serials.ts";

/** A set as it is here, and the writes whose actions wait for it. */
export type Work = SetWork & {
  readonly ours: PublishedContent | null;
  readonly serials: readonly number[];
};

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

/**
 * The sets that differ from what the provider is known to hold; those that are gone here come first, as in every batch.
 */
export const differingSets = (
  sets: readonly RRset[],
  rows: ReadonlyMap<string, PublishedSet>,
  ttls: DefaultTtls,
): readonly SetKey[] => {
  const here = new Map(sets.map((set) => [keyOf(set), set]));
  return [...[...rows.values()].filter((row) => !here.has(keyOf(row))), ...here.values()].filter((place) => {
    const { kind } = planSet(contentOf(here.get(keyOf(place)), ttls), rows.get(keyOf(place)), ttls);
    return !isProviders(place) && (kind === "send" || kind === "read");
  });
};
