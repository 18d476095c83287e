import type { Logger } from "../../process/log.ts";
import type { LoadCounts } from "../metrics/metrics.ts";
import { NoContent, type ZoneSource } from "./zone-source.ts";

/** Milliseconds after which a load is logged: queries no longer wait for it then. */
const long = 5_000;

/**
 * The source of all threads. Of one zone it loads one at a time: threads that ask together would only slow each other
 * down. Counts the loads, and logs those that take long.
 */
export function watchLoads(
  source: ZoneSource,
  log: Logger,
): { readonly source: ZoneSource; readonly counts: LoadCounts } {
  const counts: LoadCounts = { underway: 0, done: 0, failed: 0 };
  /** The last load of each zone that is being loaded. */
  const running = new Map<string, Promise<unknown>>();

  const loadNow: ZoneSource["load"] = async (zone, begin) => {
    const begun = performance.now();
    let isLong = false;
    const timer = setTimeout(() => {
      isLong = true;
      log.warn({ zone }, "the zone takes long to load; until then its queries get the last known answer, or SERVFAIL");
    }, long).unref();
    counts.underway += 1;
    try {
      const content = await source.load(zone, begin);
      counts.done += 1;
      if (isLong) log.info({ zone, seconds: Math.round((performance.now() - begun) / 1_000) }, "the zone is loaded");
      return content;
    } catch (error) {
      if (error instanceof NoContent) throw error;
      counts.failed += 1;
      throw new Error(`the zone ${zone} could not be loaded: ${(error as Error).message}`, { cause: error });
    } finally {
      clearTimeout(timer);
      counts.underway -= 1;
    }
  };

  const load: ZoneSource["load"] = async (zone, begin) => {
    const now = () => loadNow(zone, begin);
    const result = running.get(zone)?.then(now, now) ?? now();
    running.set(zone, result);
    try {
      return await result;
    } finally {
      if (running.get(zone) === result) running.delete(zone);
    }
  };
  return { source: { ...source, load }, counts };
}
