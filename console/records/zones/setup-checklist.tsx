import { Button, Group, Paper, Stack, Title } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { DelegationState } from "../../../src/contract/console.ts";
import type { Rrset, RrsetsZone } from "../../../src/contract/rrsets.ts";
import { knownNameservers } from "../../../src/core/names/known-nameservers.ts";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import { CopyText } from "../../shared/copy-text.tsx";
import { Problem } from "../../shared/live/problem.tsx";
import { useSession } from "../../shared/session/session.tsx";
import { When } from "../../shared/time/when.tsx";
import { readSet } from "../api.ts";
import { MailForm, WebsiteForm } from "./first-records.tsx";

/** What a new zone needs: nameservers at the registrar, the delegation, and the first records. */
export default function SetupChecklist(props: { readonly zone: RrsetsZone; readonly onDismiss: () => void }) {
  const { zone } = props;
  const { request } = useSession();
  const records = useQuery({
    // Read again with the zone, after every change to it.
    queryKey: ["zone", zone.name, "first-records"],
    queryFn: async () =>
      (await Promise.all(wanted.map(([name, type]) => readSet(request, zone.name, { name, type })))).filter(
        (set) => set !== undefined,
      ),
  });
  const website = records.data?.filter(({ type }) => type !== "MX");
  const mail = records.data?.filter(({ type }) => type === "MX");
  const servers = knownNameservers(zone.authoritative_nameservers.assigned);
  return (
    <Paper withBorder p="md" mb="md" component="section" aria-labelledby="setup">
      <Stack gap="md">
        <Group justify="space-between">
          <Title order={2} id="setup">
            Set up {nameToUnicode(zone.name)}
          </Title>
          <Button variant="default" size="compact-sm" onClick={props.onDismiss}>
            Close the checklist
          </Button>
        </Group>
        <Problem error={records.error} retry={() => void records.refetch()} />
        <ol className="checklist">
          {servers.length === 0 ? (
            <Step title="Configure nameservers" isDone={false}>
              <NoNameservers />
            </Step>
          ) : (
            <Delegated zone={zone} servers={servers} />
          )}
          <Step title="Website" isDone={records.data && (website?.length ?? 0) > 0}>
            {website && (website.length > 0 ? <Present sets={website} /> : <WebsiteForm zone={zone.name} />)}
          </Step>
          <Step title="Mail" isDone={records.data && (mail?.length ?? 0) > 0}>
            {mail && (mail.length > 0 ? <Present sets={mail} /> : <MailForm zone={zone.name} />)}
          </Step>
        </ol>
      </Stack>
    </Paper>
  );
}

const wanted = [
  ["@", "A"],
  ["@", "AAAA"],
  ["www", "A"],
  ["www", "AAAA"],
  ["www", "CNAME"],
  ["@", "MX"],
] as const;

function Step(props: { readonly title: string; readonly isDone: boolean | undefined; readonly children: ReactNode }) {
  return (
    <li>
      <Title order={3} size="1rem" mb={4}>
        {props.title}{" "}
        {props.isDone !== undefined && (
          <span className={props.isDone ? "good nowrap" : "quiet nowrap"} style={{ fontWeight: 400 }}>
            {props.isDone ? "✓ done" : "to do"}
          </span>
        )}
      </Title>
      {props.children}
    </li>
  );
}

const NoNameservers = () => (
  <p>
    This service does not know the names of its nameservers yet, so there is nothing to enter at the registrar. Its
    operator sets them: start <code>moor records</code> with <code className="nowrap">--dns</code> and{" "}
    <code>
      <span className="nowrap">--nameserver</span> ns1.your-domain.net <span className="nowrap">--nameserver</span>{" "}
      ns2.your-domain.net
    </code>
    . Records can be added now.
  </p>
);

function Delegated({ zone, servers }: { readonly zone: RrsetsZone; readonly servers: readonly string[] }) {
  const { request } = useSession();
  const queries = useQueryClient();
  const queryKey = ["delegation", zone.name];
  const state = useQuery({
    queryKey,
    queryFn: () => request<DelegationState>("GET", `/console/zones/${encodeURIComponent(zone.name)}/delegation`),
    refetchInterval: 60_000,
  });
  const status = state.data?.status;
  const isDone = status === undefined || status === "unknown" ? undefined : status === "valid";
  return (
    <>
      <Step title="Nameservers at the registrar" isDone={isDone}>
        <p>Enter these nameservers where the domain is registered, and remove all others:</p>
        <CopyText text={servers.map((server) => server.replace(/\.$/, "")).join("\n")} label="nameservers" />
      </Step>
      <Step title="Delegation" isDone={isDone}>
        <Group gap="sm">
          <span role="status">
            {state.data ? <StatusWords state={state.data} /> : state.error ? null : "Querying the parent zone…"}
          </span>
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => void queries.invalidateQueries({ queryKey })}
            loading={state.isFetching}
          >
            Check again
          </Button>
        </Group>
        <Problem error={state.error} />
      </Step>
    </>
  );
}

function StatusWords({ state: { status, servers, asked, because } }: { readonly state: DelegationState }) {
  const named = <span className="mono">{servers.join(", ")}</span>;
  return (
    <>
      {status === "valid" && "The parent zone delegates to exactly these nameservers."}
      {status === "none" && "Not delegated yet. A change at the registrar can take a day to show here."}
      {status === "elsewhere" && <>Delegated to other nameservers: {named}. Replace them at the registrar.</>}
      {status === "partial" && <>The parent zone delegates to {named}, which differs from the list above.</>}
      {status === "unknown" && `Could not find out whether the zone is delegated: ${because ?? "no answer"}.`}{" "}
      <span className="quiet">
        Checked <When at={asked} />.
      </span>
    </>
  );
}

const Present = ({ sets }: { readonly sets: readonly Rrset[] }) => (
  <ul style={{ margin: 0, paddingLeft: "1.25rem" }}>
    {sets.map(({ id, name, type, records }) => (
      <li key={id}>
        <b>
          {name} {type}
        </b>{" "}
        <span className="mono breaks">{records.map(({ value }) => value).join(", ")}</span>
      </li>
    ))}
  </ul>
);
