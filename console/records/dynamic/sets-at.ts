import { useQuery } from "@tanstack/react-query";
import { useSession } from "../../shared/session/session.tsx";
import { readSetsAt } from "../api.ts";

/**
 * The sets of the name as they are now; live, because everything about a zone is read again after each change to it.
 */
export function useSetsAt(zone: string | null, owner: string | undefined) {
  const { request } = useSession();
  return useQuery({
    queryKey: ["zone", zone, "at", owner],
    queryFn: () => readSetsAt(request, zone ?? "", owner ?? ""),
    enabled: zone !== null && owner !== undefined,
  });
}
