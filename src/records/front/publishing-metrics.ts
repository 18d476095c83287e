import type { Instant } from "../../core/instant.ts";
import { family, type Sample } from "../../process/metrics.ts";
import { within } from "../../process/within.ts";
import type { ServiceFault } from "../../providers/answers/service-fault.ts";
import { neverRead, type PublishedZone } from "../model.ts";
import type { RecordStore } from "../store/port.ts";

const faultKinds = ["missing", "ambiguous", "refused", "unauthorised", "unsupported", "later"] as const;

/** What the publisher of this node has seen. */
export class PublishingState {
  readonly #faults = new Map<ServiceFault["kind"], number>();
  /** Since when each zone has sets that are not published. */
  readonly #waitingSince = new Map<number, Instant>();

  failed({ kind }: ServiceFault): void {
    this.#faults.set(kind, (this.#faults.get(kind) ?? 0) + 1);
  }

  /** How many sets of the zone wait now. */
  waits(zone: number, count: number, now: Instant): void {
    if (count === 0) this.#waitingSince.delete(zone);
    else if (!this.#waitingSince.has(zone)) this.#waitingSince.set(zone, now);
  }

  /** Another node publishes now, or none. */
  end(): void {
    this.#waitingSince.clear();
  }

  /** Milliseconds. */
  oldest(now: Instant): number {
    return this.#waitingSince.size === 0 ? 0 : now - Math.min(...this.#waitingSince.values());
  }

  faults(): readonly Sample[] {
    return faultKinds.map((kind) => [{ kind }, this.#faults.get(kind) ?? 0]);
  }
}

export type PublishingMetrics = {
  readonly store: Pick<RecordStore, "publishedZones" | "knownSets" | "troubledSets">;
  readonly state: PublishingState;
};

/** Milliseconds. */
const patience = 1_000;

/** Of zones that are published at a provider. The counts are missing while the database does not answer. */
export async function publishingFamilies(
  { store, state }: PublishingMetrics,
  now: Instant,
): Promise<readonly string[]> {
  const counts = await within(patience, countsIn(store)).catch(() => []);
  return [
    family("moor_unpublished_sets", "gauge", "Sets that differ from those at their provider, by state.", counts),
    family("moor_publishing_oldest_seconds", "gauge", "For how long the oldest change waits for its provider.", [
      [{}, state.oldest(now) / 1_000],
    ]),
    family(
      "moor_provider_faults_total",
      "counter",
      "Rounds that a provider did not let end, by reason.",
      state.faults(),
    ),
  ];
}

async function countsIn(store: PublishingMetrics["store"]): Promise<readonly Sample[]> {
  const zones = await store.publishedZones();
  const troubled = zones.length === 0 ? [] : await store.troubledSets(zones.map(([{ number }]) => number));
  // Of a zone that was not read since its token was replaced, no set is published.
  const isUnread = ({ readAt }: PublishedZone) => readAt === neverRead;
  const unread = zones.flatMap(([{ number }, note]) => (isUnread(note) ? [number] : []));
  const unreadSets = unread.length === 0 ? 0 : await store.knownSets(unread);
  const sum = (numbers: readonly number[]) => numbers.reduce((before, each) => before + each, 0);
  return [
    [{ state: "waiting" }, unreadSets + sum(zones.map(([, note]) => (isUnread(note) ? 0 : note.waiting)))],
    [{ state: "refused" }, sum(troubled.map(({ refused }) => refused))],
    [{ state: "drifted" }, sum(troubled.map(({ drifted }) => drifted))],
  ];
}
