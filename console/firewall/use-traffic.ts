import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { ConsoleTraffic } from "../../src/contract/console-firewall.ts";
import { useSession } from "../shared/session/session.tsx";
import { type Traffic, withSample } from "./traffic.ts";

const askEvery = 2_000;

/** The rates since the page was opened. They are kept while another page of this console is shown. */
export function useTraffic(): Traffic | undefined {
  const { request } = useSession();
  const queries = useQueryClient();
  const found = useQuery({
    queryKey: ["traffic"],
    queryFn: async () =>
      withSample(queries.getQueryData<Traffic>(["traffic"]), await request<ConsoleTraffic>("GET", "/console/traffic")),
    refetchInterval: askEvery,
    staleTime: 0,
    retry: false,
  });
  return found.data;
}
