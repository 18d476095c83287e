import { Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { AuditLine } from "../../src/contract/console-firewall.ts";
import { ListTable } from "../shared/list-table.tsx";
import { Loading } from "../shared/live/loading.tsx";
import { useSession } from "../shared/session/session.tsx";
import { When } from "../shared/time/when.tsx";

/** Who changed which users, groups and keys, and when. */
export default function AuditPage() {
  const { request } = useSession();
  const found = useQuery({
    queryKey: ["audit"],
    queryFn: () => request<{ readonly audit: readonly AuditLine[] }>("GET", "/console/audit"),
    staleTime: 0,
  });
  const lines = found.data?.audit;
  return (
    <>
      <Title order={1} mb="sm">
        Audit
      </Title>
      <Loading of={found} height={160} />
      {lines?.length === 0 && <Text>No changes yet.</Text>}
      {lines !== undefined && lines.length > 0 && (
        <ListTable heads={["When", "Who", "From", "Action", "Subject"]}>
          {lines.map(({ at, actor, source, action, subject }) => (
            <tr key={`${at} ${action} ${subject}`}>
              <td data-label="When">
                <When at={at} />
              </td>
              <td data-label="Who">{actor}</td>
              <td data-label="From">{source}</td>
              <td data-label="Action">{action}</td>
              <td data-label="Subject">{subject}</td>
            </tr>
          ))}
        </ListTable>
      )}
    </>
  );
}
