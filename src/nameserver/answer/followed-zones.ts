import { defaultLoadLimits } from "./load-limits.ts";
import { LoadedZones } from "./loaded-zones.ts";
import type { ZoneSource } from "./zone-source.ts";

export type FollowOptions = { readonly seed: number; readonly onTrouble: (error: unknown) => void };

/** Milliseconds until the names of the zones are read again after a failure. */
const pause = 10_000;

/** The zones of a source, kept up to date until `unfollow` is called. */
export function followZones(source: ZoneSource, { seed, onTrouble }: FollowOptions): FollowedZones {
  const zones = new LoadedZones(source, { ...defaultLoadLimits, seed }, onTrouble);
  let later: NodeJS.Timeout | undefined;
  let ended = false;
  const learn = () => {
    clearTimeout(later);
    void zones.readNames().catch((error: unknown) => {
      onTrouble(error);
      clearTimeout(later);
      if (!ended) later = setTimeout(learn, pause).unref();
    });
  };
  const unfollow = source.follow((event) => {
    zones.apply(event);
    if (event.kind === "lost") learn();
  });
  learn();
  return {
    zones,
    unfollow: () => {
      ended = true;
      clearTimeout(later);
      unfollow();
    },
  };
}

export type FollowedZones = { readonly zones: LoadedZones; readonly unfollow: () => void };
