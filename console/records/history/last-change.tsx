import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { Rrset } from "../../../src/contract/rrsets.ts";
import { useSession } from "../../shared/session/session.tsx";
import { When } from "../../shared/time/when.tsx";
import { actorWords } from "../names/device-words.ts";
import { Lines } from "./change-lines.tsx";
import { historyOf } from "./history-address.ts";
import { filterIn, readWrites } from "./read-writes.ts";

/** Who changed this record last and how, with the way to everything before that. Nothing while that is not known. */
export function LastChange({ zone, set }: { readonly zone: string; readonly set: Rrset }) {
  const { request } = useSession();
  const href = historyOf(zone, set);
  const latest = useQuery({
    queryKey: ["history", zone, "latest", set.id],
    queryFn: async () => {
      const { writes } = await readWrites(request, zone, filterIn(new URL(href, location.origin).searchParams), null);
      return writes[0] ?? null;
    },
  });
  const write = latest.data;
  const change = write?.changes.find(({ name, type }) => name === set.name && type === set.type);
  return (
    <Text size="xs" c="dimmed" component="div" className="breaks">
      {write && (
        <>
          Changed <When at={write.at} /> by <span title={write.by}>{actorWords(write.by)}</span>
          {change && (
            <>
              : <Lines before={change.before} after={change.after} />
            </>
          )}{" "}
        </>
      )}
      <Link href={href}>{write ? "All changes" : "History"}</Link>
    </Text>
  );
}
