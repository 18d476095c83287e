import { Button, Group, Stack, Switch, Text, TextInput, Title } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import type { RrsetsZone } from "../../../src/contract/rrsets.ts";
import { knownNameservers } from "../../../src/core/names/known-nameservers.ts";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import { counted } from "../../shared/counted.ts";
import { download } from "../../shared/download.ts";
import { Problem } from "../../shared/live/problem.tsx";
import { type Method, RequestProblem } from "../../shared/live/request.ts";
import { usePassingError } from "../../shared/live/use-passing-error.ts";
import { useSession } from "../../shared/session/session.tsx";
import { writeZone, zonePath } from "../api.ts";
import { usePublication } from "../publication/read-publication.ts";
import { labelsText, readLabels } from "../sets/set-draft.ts";
import { keptZone } from "../sets/shown-name.ts";
import { ttlFault, ttlInWords } from "../sets/ttl.ts";
import { ImportFile } from "./import-file.tsx";
import { zoneAddress } from "./zone-address.ts";

export default function SettingsPart({ zone }: { readonly zone: RrsetsZone }) {
  // The nameservers of a zone that is published at a provider are the provider's.
  const isSetUpHere = usePublication(zone.name).data === null && zone.mode === "primary";
  return (
    <Stack gap="xl" maw="46rem">
      <General zone={zone} isSetUpHere={isSetUpHere} />
      {isSetUpHere && (
        <Link href={`${zoneAddress(zone.name)}?setup`}>Set-up checklist: nameservers, website, mail</Link>
      )}
      <section aria-labelledby="file">
        <Title order={2} id="file" mb="xs">
          Zone file
        </Title>
        <ZoneFile zone={zone} />
      </section>
      <section aria-labelledby="delete">
        <Title order={2} id="delete" mb="xs">
          Delete
        </Title>
        <DeleteZone zone={zone} />
      </section>
    </Stack>
  );
}

function useZoneWrite(zone: string) {
  const { request } = useSession();
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: (write: { readonly method: Method; readonly path: string; readonly body: unknown }) =>
      writeZone(request, write.method, `${zonePath(zone)}${write.path}`, write.body),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["zone", zone] }),
  });
  return usePassingError(change);
}

function General({ zone, isSetUpHere }: { readonly zone: RrsetsZone; readonly isSetUpHere: boolean }) {
  const write = useZoneWrite(zone.name);
  return (
    <section aria-labelledby="general">
      <Title order={2} id="general" mb="xs">
        General
      </Title>
      <Stack gap="sm">
        <DefaultTtl
          key={zone.ttl}
          ttl={zone.ttl}
          busy={write.isPending}
          onSave={(ttl) => write.mutate({ method: "POST", path: "/actions/change_ttl", body: { ttl } })}
        />
        <Labels
          key={labelsText(zone.labels)}
          labels={labelsText(zone.labels)}
          busy={write.isPending}
          onSave={(labels) => write.mutate({ method: "PUT", path: "", body: { labels: readLabels(labels) } })}
        />
        <Switch
          label="Protected against deletion"
          checked={zone.protection.delete}
          onChange={(event) =>
            write.mutate({
              method: "POST",
              path: "/actions/change_protection",
              body: { delete: event.currentTarget.checked },
            })
          }
        />
        <Problem error={write.error} />
        {isSetUpHere && <Nameservers names={knownNameservers(zone.authoritative_nameservers.assigned)} />}
      </Stack>
    </section>
  );
}

function DefaultTtl(props: { readonly ttl: number; readonly busy: boolean; readonly onSave: (ttl: number) => void }) {
  const [ttl, setTtl] = useState(String(props.ttl));
  const seconds = Number(ttl);
  const kept = ttlInWords(seconds);
  return (
    <Group align="flex-end">
      <TextInput
        label="Default TTL in seconds"
        description={kept ? `resolvers cache answers for ${kept}` : "how long resolvers cache an answer"}
        value={ttl}
        onChange={(event) => setTtl(event.currentTarget.value)}
        error={kept === undefined && ttlFault}
        inputMode="numeric"
      />
      <Button
        variant="default"
        disabled={props.busy || kept === undefined || seconds === props.ttl}
        onClick={() => props.onSave(seconds)}
      >
        Save TTL
      </Button>
    </Group>
  );
}

function Labels(props: { readonly labels: string; readonly busy: boolean; readonly onSave: (labels: string) => void }) {
  const [labels, setLabels] = useState(props.labels);
  return (
    <Group align="flex-end">
      <TextInput
        label="Labels"
        description="Your own notes, such as team=ops, customer=north"
        value={labels}
        onChange={(event) => setLabels(event.currentTarget.value)}
        style={{ flex: 1 }}
      />
      <Button variant="default" disabled={props.busy || labels === props.labels} onClick={() => props.onSave(labels)}>
        Save labels
      </Button>
    </Group>
  );
}

function Nameservers({ names: real }: { readonly names: readonly string[] }) {
  return (
    <Text size="sm">
      {real.length > 0
        ? "Nameservers to enter at the registrar: "
        : "There are no nameservers to enter at the registrar yet. Set them with "}
      <span className="mono">{real.join(" ") || "moor records --nameserver HOST"}</span>
      {real.length > 0 ? "" : "."}
    </Text>
  );
}

function ZoneFile({ zone }: { readonly zone: RrsetsZone }) {
  const { request } = useSession();
  const [importing, setImporting] = useState(false);
  const [imported, setImported] = useState("");
  const isSecondary = zone.mode === "secondary";
  const open = () => {
    setImported("");
    setImporting(true);
  };
  const save = usePassingError(
    useMutation({
      mutationFn: () => request<{ zonefile: string }>("GET", `${zonePath(zone.name)}/zonefile`),
      onSuccess: ({ zonefile }) => download(`${zone.name}.zone`, zonefile),
    }),
  );
  return (
    <>
      <Group gap="xs">
        <Button variant="default" onClick={() => save.mutate()} loading={save.isPending} disabled={isSecondary}>
          Export
        </Button>
        <Button variant="default" onClick={open} disabled={isSecondary}>
          Import…
        </Button>
      </Group>
      <Problem error={save.error} />
      <p role="status" className="good" style={{ margin: "0.5rem 0 0" }}>
        {imported && `Imported: ${imported}.`}
      </p>
      {importing && (
        <ImportFile
          zone={zone}
          onDone={(changes) => {
            setImported(changes);
            setImporting(false);
          }}
          onClose={() => setImporting(false)}
        />
      )}
    </>
  );
}

function DeleteZone({ zone }: { readonly zone: RrsetsZone }) {
  const { request } = useSession();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const [typed, setTyped] = useState("");
  const remove = usePassingError(
    useMutation({
      mutationFn: () => request("DELETE", zonePath(zone.name)),
      onSuccess: async () => {
        navigate("/zones");
        await queries.invalidateQueries({ queryKey: ["zones"] });
      },
    }),
  );
  const isProtected = remove.error instanceof RequestProblem && remove.error.status === 423;
  return (
    <Stack gap="sm">
      <Text size="sm">
        This also deletes {zone.record_count === 1 ? "its one record" : `all ${counted(zone.record_count, "record")}`},
        immediately. {zone.mode !== "secondary" && "Export the zone first if you might want it back."}
      </Text>
      <Group align="flex-end">
        <TextInput
          label={`Type ${nameToUnicode(zone.name)} to delete it`}
          styles={{ label: { overflowWrap: "anywhere" } }}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoCapitalize="none"
          spellCheck={false}
          disabled={zone.protection.delete}
          style={{ flex: 1 }}
        />
        <Button
          color="red"
          disabled={keptZone(typed) !== zone.name}
          loading={remove.isPending}
          onClick={() => remove.mutate()}
        >
          Delete zone
        </Button>
      </Group>
      {zone.protection.delete && (
        <Text size="sm">The zone is protected against deletion. Turn that off above first.</Text>
      )}
      <Problem error={remove.error} />
      {isProtected && <Text size="sm">A record set in the zone may be protected. Turn its protection off first.</Text>}
    </Stack>
  );
}
