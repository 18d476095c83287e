import { useQuery } from "@tanstack/react-query";
import type { ShownConfig } from "../../src/contract/updater-page.ts";
import { useSession } from "../shared/session/session.tsx";

export function useShownConfig() {
  const { request } = useSession();
  return useQuery({
    queryKey: ["config"],
    queryFn: () => request<ShownConfig>("GET", "/page/config"),
    // The updater reloads its file when it changes.
    refetchInterval: 10_000,
  });
}
