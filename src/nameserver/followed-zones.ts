import { createLoadedZones, defaultLoadLimits, type LoadedZones } from "./loaded-zones.ts";
import type { ZoneSource } from "./zone-source.ts";

export type FollowOptions = { readonly seed: number; readonly onTrouble: (error: unknown) => void };

/** The zones of a source, kept as they are there until `unfollow` is called. */
export function followZones(source: ZoneSource, { seed, onTrouble }: FollowOptions): FollowedZones {
  const zones = createLoadedZones(source, { ...defaultLoadLimits, seed });
  const learn = () => zones.learn().catch(onTrouble);
  const unfollow = source.follow((event) => {
    zones.apply(event);
    if (event.kind === "lost") void learn();
  });
  void learn();
  return { zones, unfollow };
}

export type FollowedZones = { readonly zones: LoadedZones; readonly unfollow: () => void };
