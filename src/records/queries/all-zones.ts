import type { FairSchedule } from "../../lib/limits/fair-schedule.ts";
import type { Zone } from "../model.ts";
import type { Order, Page, RecordStore, ZoneFilter, ZoneQuery } from "../store/port.ts";
import type { Actor } from "./permitted-view.ts";

const partSize = 200;

type Tools = {
  readonly store: Pick<RecordStore, "zonesAfter">;
  readonly schedule: Pick<FairSchedule, "next">;
};

/**
 * The zones of the actor's account that are kept, by name. Read in parts, each in its turn: there may be any number,
 * with many labels.
 */
export async function allZones(
  { store, schedule }: Tools,
  { account, scope }: Actor,
  keep: (zone: Zone) => boolean,
  filter: ZoneFilter = {},
): Promise<readonly Zone[]> {
  const seen = scope.zones === undefined ? filter : { ...filter, within: scope.zones };
  const kept: Zone[] = [];
  for (let after = ""; ; ) {
    await schedule.next(account);
    const part = await store.zonesAfter(account, after, partSize, seen);
    kept.push(...part.filter(keep));
    if (part.length < partSize) return kept;
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
