export type LoadLimits = {
  /** Sets in memory, all zones together. Zones that were not queried lately are dropped first. */
  readonly sets: number;
  /** Names remembered as not being zones. */
  readonly absent: number;
  /** Sets in memory up to which zones are loaded that nobody has asked for yet. */
  readonly unasked: number;
  /** Milliseconds that queries wait for a zone to load. Loading continues, and later queries find the zone. */
  readonly wait: number;
  /** Milliseconds to find the zone of a name: a resolver gives up soon and asks another server. */
  readonly find: number;
  /** Any number: makes it hard to guess which names are mistaken for zones. */
  readonly seed: number;
};

export const defaultLoadLimits: LoadLimits = {
  sets: 1_000_000,
  absent: 50_000,
  unasked: 100_000,
  wait: 5_000,
  find: 2_000,
  seed: 0,
};
