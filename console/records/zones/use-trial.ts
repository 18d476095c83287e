import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { RequestProblem } from "../../shared/live/request.ts";
import { useSession } from "../../shared/session/session.tsx";
import { zonePath } from "../api.ts";

/** What is sent to import a zone file, or to try that. */
export type ImportBody = {
  readonly zonefile: string;
  readonly own_records: string;
  readonly merge?: boolean;
  readonly create?: boolean;
};

/** Milliseconds after which a text counts as typed. */
const pause = 300;

/** Whether the service would do an import: it is tried, and nothing is written. */
export function useTrial(zone: string | undefined, body: ImportBody | undefined) {
  const { request } = useSession();
  const asked = zone && body ? JSON.stringify(body) : undefined;
  const [settled] = useDebouncedValue(asked, pause);
  const { error, isSuccess, refetch } = useQuery({
    queryKey: ["import-trial", zone, settled],
    queryFn: () => request("POST", `${zonePath(zone ?? "")}/zonefile/preview`, body),
    enabled: asked !== undefined && settled === asked,
    retry: false,
    gcTime: 0,
  });
  const isRefused = error instanceof RequestProblem && error.status >= 400 && error.status < 500;
  return {
    isFine: isSuccess && settled === asked,
    faults: !isRefused ? [] : error.faults.length > 0 ? error.faults : [error.message],
    error: isRefused ? null : error,
    refetch,
  };
}
