import { networkOf } from "./rate-limit.ts";

/**
 * Places for questions that wait, for a zone to be loaded or for news. Each client network has a share, so that a flood of one
 * never takes the places of the others. A question without a place is answered if it needs no wait; if not, its client asks again.
 */
export type WaitingPlaces = {
  readonly isFreeFor: (client: string) => boolean;
  /** Gives the way to leave the place. */
  readonly take: (client: string) => () => void;
};

export type PlaceLimits = { readonly all: number; readonly network: number };

const defaultPlaceLimits: PlaceLimits = { all: 1_000, network: 100 };

export function createWaitingPlaces(limits = defaultPlaceLimits): WaitingPlaces {
  const networks = new Map<string, number>();
  let taken = 0;
  return {
    isFreeFor: (client) => {
      // While few wait, nobody has used up a share.
      if (taken < limits.network) return true;
      return taken < limits.all && (networks.get(networkOf(client)) ?? 0) < limits.network;
    },
    take: (client) => {
      const network = networkOf(client);
      taken += 1;
      networks.set(network, (networks.get(network) ?? 0) + 1);
      return () => {
        taken -= 1;
        const left = (networks.get(network) ?? 0) - 1;
        if (left > 0) networks.set(network, left);
        else networks.delete(network);
      };
    },
  };
}
