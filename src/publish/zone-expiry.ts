import type { Instant } from "../core/instant.ts";
import type { Zone } from "../records/model.ts";

/** Takes back what was given out of secondary zones in the moment when they expire, however long a primary server keeps silent. */
export type ZoneExpiry = {
  /** The zone was given out, and may be answered from until then. */
  readonly watch: (zone: Zone, until: Instant) => void;
  readonly close: () => void;
};

export type ZoneExpiryPorts = {
  /** Until when it may be answered from now: its primary servers may have been heard of meanwhile, also by another node. */
  readonly until: (zone: Zone) => Promise<Instant | undefined>;
  readonly expired: (zone: string) => void;
};

/** Milliseconds. Meanwhile the clock may be put forward. */
const longest = 3_600_000;

export function watchExpiry({ until, expired }: ZoneExpiryPorts): ZoneExpiry {
  const timers = new Map<number, NodeJS.Timeout>();
  let closed = false;

  const watch = (zone: Zone, end: Instant) => {
    clearTimeout(timers.get(zone.number));
    if (closed) return;
    // At that very moment the zone is still valid.
    const wait = Math.min(Math.max(end + 1 - Date.now(), 1), longest);
    timers.set(
      zone.number,
      setTimeout(() => void look(zone, end), wait),
    );
  };
  const look = async (zone: Zone, known: Instant) => {
    timers.delete(zone.number);
    // A store that cannot be asked makes it neither younger nor older.
    const end = await until(zone).catch(() => known);
    if (end !== undefined && end >= Date.now()) watch(zone, end);
    else if (!closed) expired(zone.name);
  };
  return {
    watch,
    close: () => {
      closed = true;
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}
