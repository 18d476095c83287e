import type { Instant } from "../core/instant.ts";
import type { Zone } from "../records/model.ts";

export type ZoneExpiryPorts = {
  /** When it expires according to the store: this node or another may have reached a primary server meanwhile. */
  readonly until: (zone: Zone) => Promise<Instant | undefined>;
  readonly expired: (zone: string) => void;
};

/** Milliseconds between two looks at the clock, at most, because it may be set forward. */
const longest = 3_600_000;

/** Stops answering from a secondary zone at the moment when it expires, even if its primary servers stay silent. */
export function watchExpiry({ until, expired }: ZoneExpiryPorts) {
  const timers = new Map<number, NodeJS.Timeout>();
  let closed = false;

  const watch = (zone: Zone, end: Instant) => {
    clearTimeout(timers.get(zone.number));
    if (closed) return;
    // At that very moment the zone is still valid.
    const wait = Math.min(Math.max(end + 1 - Date.now(), 1), longest);
    timers.set(
      zone.number,
      setTimeout(() => void checkZone(zone, end), wait),
    );
  };
  const checkZone = async (zone: Zone, lastKnownEnd: Instant) => {
    timers.delete(zone.number);
    // If the store cannot be read, the known time stays.
    const end = await until(zone).catch(() => lastKnownEnd);
    if (end !== undefined && end >= Date.now()) watch(zone, end);
    else if (!closed) expired(zone.name);
  };
  return {
    /** The zone was loaded, and is valid until then. */
    watch,
    close: (): void => {
      closed = true;
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}
