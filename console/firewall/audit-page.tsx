import { Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { AuditLine } from "../../src/contract/console-firewall.ts";
import { ListTable } from "../shared/list-table.tsx";
import { Loading } from "../shared/live/loading.tsx";
import { useSearchPart } from "../shared/search-part.ts";
import { useSession } from "../shared/session/session.tsx";
import { When } from "../shared/time/when.tsx";

const parts = [
  { show: "", name: "All", kinds: ["change", "sign-in", "failed-sign-in"] },
  { show: "changes", name: "Changes", kinds: ["change"] },
  { show: "sign-ins", name: "Sign-ins", kinds: ["sign-in", "failed-sign-in"] },
] as const satisfies readonly { show: string; name: string; kinds: readonly AuditLine["kind"][] }[];

export default function AuditPage() {
  const { request } = useSession();
  const { query } = useSearchPart();
  const found = useQuery({
    queryKey: ["audit"],
    queryFn: () => request<{ readonly audit: readonly AuditLine[] }>("GET", "/console/audit"),
    staleTime: 0,
  });
  const part = parts.find(({ show }) => show === query.get("show")) ?? parts[0];
  const lines = found.data?.audit.filter(({ kind }) => part.kinds.some((each) => each === kind));
  return (
    <>
      <Title order={1}>Audit</Title>
      <nav aria-label="Which entries to show">
        <ul className="tabs">
          {parts.map(({ show, name }) => (
            <li key={show}>
              <Link
                href={show === "" ? "/audit" : `/audit?show=${show}`}
                className="tab"
                aria-current={show === part.show ? "page" : undefined}
              >
                {name}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <Loading of={found} height={160} />
      {lines?.length === 0 && <Text>Nothing yet.</Text>}
      {lines !== undefined && lines.length > 0 && (
        <ListTable heads={["When", "Who", "From", "Action", "Subject"]}>
          {lines.map((line) => (
            <OneLine key={`${line.at} ${line.actor} ${line.source} ${line.action} ${line.subject}`} line={line} />
          ))}
        </ListTable>
      )}
    </>
  );
}

function OneLine({ line: { at, actor, source, action, subject, kind, times } }: { readonly line: AuditLine }) {
  return (
    <tr>
      <td data-label="When">
        <When at={at} />
      </td>
      <td data-label="Who">{actor}</td>
      <td data-label="From">{source}</td>
      <td data-label="Action">
        <span className={kind === "failed-sign-in" ? "warn" : undefined}>
          {action}
          {times > 1 && ` (${times} times)`}
        </span>
      </td>
      {subject === "" ? <td className="empty" /> : <td data-label="Subject">{subject}</td>}
    </tr>
  );
}
