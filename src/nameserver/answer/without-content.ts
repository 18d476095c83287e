import { createLruCache, type LruCache } from "./lru-cache.ts";
import type { NameKey } from "./name-key.ts";
import { NoContent } from "./zone-source.ts";

/**
 * Milliseconds. A transfer is an event, but a primary server that is reached again, and has nothing new, is not: the
 * source must be asked again.
 */
const pause = 5_000;

/** Zones without content, so that the source is not asked about them at each query. */
export class ZonesWithoutContent {
  readonly #zones: LruCache<{ readonly error: NoContent; readonly until: number }>;

  constructor(most: number) {
    this.#zones = createLruCache(most);
  }

  find(zone: NameKey): NoContent | undefined {
    const found = this.#zones.get(zone);
    return found !== undefined && performance.now() < found.until ? found.error : undefined;
  }

  /** `error`: why the zone could not be loaded. */
  note(zone: NameKey, error: unknown): void {
    if (error instanceof NoContent) this.#zones.set(zone, { error, until: performance.now() + pause });
  }

  forget(zone: NameKey): void {
    this.#zones.delete(zone);
  }

  clear(): void {
    this.#zones.clear();
  }
}
