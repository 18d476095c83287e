import { useQuery } from "@tanstack/react-query";
import { createContext } from "react";
import type { WirePreview, WireProvider, WirePublication, WireSetState } from "../../../src/contract/front.ts";
import type { Request } from "../../shared/live/request.ts";
import { useSession } from "../../shared/session/session.tsx";
import { zonePath } from "../api.ts";

/** Where the zone is published, and how far; null if it is not published at a provider. */
export function usePublication(zone: string) {
  const { request } = useSession();
  return useQuery({
    queryKey: ["zone", zone, "publication"],
    queryFn: async () =>
      (await request<{ publication: WirePublication | null }>("GET", `${zonePath(zone)}/publication`)).publication,
    // The state changes without a write by a user.
    refetchInterval: ({ state: { data } }) => (data ? (data.counts.waiting > 0 ? 1_000 : 15_000) : false),
  });
}

/** More are neither shown nor marked: something is wrong with all of them. */
const mostShown = 500;

/** The sets that the provider does not hold as they are here. */
export function useUnpublishedSets(zone: string, publication: WirePublication | null | undefined) {
  const { request } = useSession();
  return useQuery({
    queryKey: ["zone", zone, "publication", "sets", publication?.counts],
    enabled: publication !== null && publication !== undefined && notPublished(publication) > 0,
    placeholderData: (before: readonly WireSetState[] | undefined) => before,
    queryFn: async () => {
      const query = `state=drifted&state=refused&state=waiting&per_page=${mostShown}`;
      return (await request<{ sets: readonly WireSetState[] }>("GET", `${zonePath(zone)}/publication/sets?${query}`))
        .sets;
    },
  });
}

export const notPublished = ({ counts }: WirePublication): number => counts.waiting + counts.refused + counts.drifted;

/** By `name/type`, for the rows of the table of records. */
export const SetStates = createContext<ReadonlyMap<string, WireSetState>>(new Map());

export const statesByKey = (sets: readonly WireSetState[]): ReadonlyMap<string, WireSetState> =>
  new Map(sets.map((set) => [`${set.name}/${set.type}`, set]));

/** The account is stored when the zone is published, not before. */
export type ToPublish = { readonly provider: string; readonly account?: Readonly<Record<string, string>> };

export type Compared = { readonly wanted: ToPublish; readonly preview: WirePreview };

/** Writes nothing. */
export const compareZone = async (request: Request, zone: string, wanted: ToPublish): Promise<Compared> => {
  const path = `${zonePath(zone)}/publication/preview`;
  return { wanted, preview: (await request<{ preview: WirePreview }>("POST", path, wanted)).preview };
};

export function useProviders() {
  const { request } = useSession();
  return useQuery({
    queryKey: ["providers"],
    queryFn: async () => (await request<{ providers: readonly WireProvider[] }>("GET", "/v1/providers")).providers,
  });
}
