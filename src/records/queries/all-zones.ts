import type { Zone } from "../model.ts";
import type { Order, Page, RecordStore, ZoneFilter, ZoneQuery } from "../store/port.ts";

const partSize = 200;

/** The zones of an account, by name, read in parts: there may be any number. `pause` comes before each part. */
export async function* allZones(
  store: Pick<RecordStore, "zonesAfter">,
  account: number,
  filter: ZoneFilter = {},
  pause: () => Promise<void> | undefined = () => undefined,
): AsyncGenerator<Zone> {
  for (let after = ""; ; ) {
    await pause();
    const part = await store.zonesAfter(account, after, partSize, filter);
    yield* part;
    if (part.length < partSize) return;
    after = part.at(-1)?.name ?? "";
  }
}

/** One page of these zones, in the order in which the store would list them. */
export function pageOfZones(zones: readonly Zone[], { order = [], page, perPage }: ZoneQuery): Page<Zone> {
  const ways = [...order, { by: "id", descending: false } as const].map(wayOf);
  const sorted = zones.toSorted((a, b) => ways.reduce((sign, way) => sign || way(a, b), 0));
  return { items: sorted.slice((page - 1) * perPage, page * perPage), total: zones.length };
}

function wayOf({ by, descending }: Order<"id" | "name" | "created">): (a: Zone, b: Zone) => number {
  const column = by === "id" ? "number" : by;
  const way = (a: Zone, b: Zone) => (a[column] < b[column] ? -1 : a[column] > b[column] ? 1 : 0);
  return descending ? (a, b) => way(b, a) : way;
}
