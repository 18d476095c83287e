import { type RecordType, typeName } from "../rdata/table.ts";

type TimedSet = { readonly owner: string; readonly type: RecordType; readonly ttl: number | null };
type Timed<S extends TimedSet> = { readonly ttl: number | undefined; readonly sets: readonly S[] };

/** Sets that are named one by one. */
const mostNamed = 5;

/**
 * An import with TTLs that are shorter than the service allows gets the shortest that it does, and says so. A set that
 * has such a TTL already keeps it.
 */
export function withHigherTtls<S extends TimedSet>(
  { ttl, sets }: Timed<S>,
  lowest: number,
  before: readonly TimedSet[] = [],
): Timed<S> & { readonly raised: readonly string[] } {
  const isLow = (set: TimedSet) => set.ttl !== null && set.ttl < lowest;
  const isDefaultLow = ttl !== undefined && ttl < lowest;
  const stays = new Map(before.filter(isLow).map((set) => [keyOf(set), set.ttl]));
  const low = sets.filter((set) => isLow(set) && stays.get(keyOf(set)) !== set.ttl);
  if (low.length === 0 && !isDefaultLow) return { ttl, sets, raised: [] };
  const names = [...(isDefaultLow ? ["the default"] : []), ...low.map(keyOf)];
  const shown = names.length > mostNamed ? [...names.slice(0, mostNamed), `${names.length - mostNamed} more`] : names;
  const found = new Set<TimedSet>(low);
  return {
    ttl: isDefaultLow ? lowest : ttl,
    sets: sets.map((set) => (found.has(set) ? { ...set, ttl: lowest } : set)),
    raised: [`TTLs below ${lowest} seconds are raised to ${lowest}: ${shown.join(", ")}`],
  };
}

const keyOf = ({ owner, type }: TimedSet): string => `${owner} ${typeName(type)}`;
