import { apex } from "../../core/names/name.ts";
import { keyOf, type RRset, type SetKey, setKey } from "../../core/records/rrset.ts";
import { isLarge, type RecordInZone, type Zone } from "../model.ts";
import type { Page, RecordStore, SetPageQuery } from "../store/port.ts";

/** Per read, which must not block for more than a few milliseconds. */
const partSize = { places: 1_000, sets: 500 };

type PageReads = Pick<RecordStore, "sets" | "setPage" | "setsAfter" | "setKeysAfter">;
type Pause = () => Promise<void>;

export type WantedSets = {
  /** By owner and type alone. */
  readonly place: (place: SetKey) => boolean;
  /** By content; absent: any. Then the records of the zone need not be read. */
  readonly set?: ((set: RRset) => boolean) | undefined;
};

/**
 * One page of the wanted sets. A large zone is read in parts, with `pause` between them: counting and sorting it in one
 * query would block for too long. So a page is not a snapshot, just as two pages together are not.
 */
export async function pageOfSets(
  store: PageReads,
  zone: Zone,
  query: SetPageQuery,
  wanted: WantedSets,
  pause: Pause,
): Promise<Page<RRset>> {
  const from = (query.page - 1) * query.perPage;
  if (query.owners !== undefined || !isLarge(zone)) {
    const whole = { ...query, page: 1, perPage: Number.MAX_SAFE_INTEGER };
    const allSets = (await store.setPage(zone, whole)).items;
    const kept = allSets.filter((set) => wanted.place(set) && (wanted.set?.(set) ?? true));
    return { items: kept.slice(from, from + query.perPage), total: kept.length };
  }
  const { types } = query;
  const isWanted = (place: SetKey) => (types?.includes(place.type) ?? true) && wanted.place(place);
  const places = await wantedPlaces(store, zone, { ...wanted, place: isWanted }, pause);
  const page = inOrder(places, query.order).slice(from, from + query.perPage);
  const read = await store.sets(zone, { owners: [...new Set(page.map(({ owner }) => owner))] });
  const byKey = new Map(read.map((set) => [setKey(set.owner, set.type), set]));
  const items = page.flatMap(({ owner, type }) => byKey.get(setKey(owner, type)) ?? []);
  return { items, total: places.length };
}

/**
 * Calls `take` for all sets of these types in a large zone, with `pause` between parts. Reads few records of other
 * types.
 */
export async function eachSetOfTypes(
  store: Pick<RecordStore, "sets" | "setsAfter" | "setKeysAfter">,
  zone: Zone,
  types: readonly RRset["type"][],
  take: (set: RRset) => void,
  pause: Pause,
): Promise<void> {
  const size = partSize.sets;
  const isOfThem = ({ type }: SetKey) => types.includes(type);
  for (let last: SetKey | undefined; ; ) {
    await pause();
    const places = await store.setKeysAfter(zone, last, size);
    const owners = [...new Set(places.filter(isOfThem).map(({ owner }) => owner))];
    const readSets =
      owners.length > size / 5 ? await store.setsAfter(zone, last, places.length) : await store.sets(zone, { owners });
    // A name whose types are in two parts would be counted twice otherwise.
    const read = new Set(places.map(keyOf));
    readSets.filter((set) => isOfThem(set) && read.has(setKey(set.owner, set.type))).forEach(take);
    last = places.at(-1);
    if (places.length < size) return;
  }
}

async function wantedPlaces(
  store: PageReads,
  zone: Zone,
  wanted: WantedSets,
  pause: Pause,
): Promise<readonly SetKey[]> {
  const places: SetKey[] = [];
  const { set: isKept } = wanted;
  if (isKept === undefined) {
    const next = (after: SetKey | undefined) => store.setKeysAfter(zone, after, partSize.places);
    await readParts(partSize.places, next, (part) => places.push(...part.filter(wanted.place)), pause);
  } else {
    const kept = (part: readonly RRset[]) => part.filter((set) => wanted.place(set) && isKept(set));
    const placesOf = (part: readonly RRset[]) => kept(part).map(({ owner, type }) => ({ owner, type }));
    const next = (after: SetKey | undefined) => store.setsAfter(zone, after, partSize.sets);
    await readParts(partSize.sets, next, (part) => places.push(...placesOf(part)), pause);
  }
  return places;
}

async function readParts<T extends SetKey>(
  size: number,
  next: (after: SetKey | undefined) => Promise<readonly T[]>,
  take: (part: readonly T[]) => void,
  pause: Pause,
): Promise<void> {
  for (let last: T | undefined; ; ) {
    await pause();
    const part = await next(last);
    take(part);
    last = part.at(-1);
    if (part.length < size) return;
  }
}

/**
 * As the store sorts a page. The places come in the order of owners and types, so that most of the work is already
 * done.
 */
function inOrder(places: readonly SetKey[], order: SetPageQuery["order"] = []): readonly SetKey[] {
  if (order.length === 0) {
    const byType = Map.groupBy(places, ({ type }) => type);
    const types = [...byType.keys()].toSorted(compare);
    return types.flatMap((type) => apexFirst(byType.get(type) ?? []));
  }
  const ways = order.map(({ by, descending }) => {
    const way = by === "id" ? byId : byName;
    return descending ? (a: SetKey, b: SetKey) => way(b, a) : way;
  });
  return places.toSorted((a, b) => {
    for (const way of ways) {
      const difference = way(a, b);
      if (difference !== 0) return difference;
    }
    return byName(a, b) || compare(a.type, b.type);
  });
}

function apexFirst(places: readonly SetKey[]): readonly SetKey[] {
  const at = places.findIndex(({ owner }) => owner === apex);
  return at < 1 ? places : [...places.slice(at, at + 1), ...places.slice(0, at), ...places.slice(at + 1)];
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const byName = (a: SetKey, b: SetKey): number =>
  Number(b.owner === apex) - Number(a.owner === apex) || compare(a.owner, b.owner);
const byId = (a: SetKey, b: SetKey): number => compare(`${a.owner}/${a.type}`, `${b.owner}/${b.type}`);

/**
 * The records `from` to `to` of many zones, in the order of the zones, then of owners and types. Only zones with such
 * records are read, and no further than `to`.
 */
export async function pageOfRecords(
  store: Pick<RecordStore, "setsAfter">,
  zones: readonly Zone[],
  { from, to }: { readonly from: number; readonly to: number },
  pause: () => Promise<void>,
): Promise<readonly RecordInZone[]> {
  const page: RecordInZone[] = [];
  let position = 0;
  for (const zone of zones) {
    if (position >= to) break;
    const end = position + zone.recordCount;
    if (end > from) page.push(...(await recordsOf(store, zone, { from: from - position, to: to - position }, pause)));
    position = end;
  }
  return page;
}

async function recordsOf(
  store: Pick<RecordStore, "setsAfter">,
  zone: Zone,
  { from, to }: { readonly from: number; readonly to: number },
  pause: () => Promise<void>,
): Promise<readonly RecordInZone[]> {
  const page: RecordInZone[] = [];
  let position = 0;
  for (let after: SetKey | undefined; position < to; ) {
    await pause();
    const sets = await store.setsAfter(zone, after, Math.min(partSize.sets, to - position));
    for (const { owner, type, ttl, records } of sets)
      for (const record of records) {
        if (position >= from && position < to) page.push({ zone, owner, type, ttl, record });
        position += 1;
      }
    after = sets.at(-1);
    if (after === undefined) break;
  }
  return page;
}
