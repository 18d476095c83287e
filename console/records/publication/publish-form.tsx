import { Button, Group, Radio, Select, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { WireProvider } from "../../../src/contract/front.ts";
import { Problem } from "../../shared/live/problem.tsx";
import { usePassingError } from "../../shared/live/use-passing-error.ts";
import { Waiting } from "../../shared/live/waiting.tsx";
import { useSession } from "../../shared/session/session.tsx";
import { writeZone, zonePath } from "../api.ts";
import { NewProvider } from "./new-provider.tsx";
import { PreviewTables } from "./preview-tables.tsx";
import { type Compared, compareZone, useProviders } from "./read-publication.ts";

/** First which provider, then what is different there, and only then the decision. */
export function PublishForm({ zone }: { readonly zone: string }) {
  const { request } = useSession();
  const [chosen, setChosen] = useState<string | null>(null);
  const [adds, setAdds] = useState(false);
  const providers = useProviders();
  const accounts = providers.data ?? [];
  const provider = chosen ?? accounts[0]?.name ?? null;
  const [compared, setCompared] = useState<Compared>();
  const compare = usePassingError(
    useMutation({
      mutationFn: (name: string) => compareZone(request, zone, { provider: name }),
      onSuccess: setCompared,
    }),
  );
  return (
    <>
      <Text size="sm">
        Keep the provider that serves this zone, and give each device its own token here: moor stores the records and
        their history, and makes those of the provider equal to them.
      </Text>
      <Problem error={providers.error} retry={() => void providers.refetch()} />
      {providers.isPending && <Waiting />}
      <Group align="flex-end">
        {provider !== null && (
          <Chosen
            provider={provider}
            known={accounts}
            busy={compare.isPending}
            onCompare={() => compare.mutate(provider)}
            onChoose={(name) => {
              setChosen(name);
              compare.reset();
              setCompared(undefined);
            }}
          />
        )}
        {providers.data && (
          <Button variant={accounts.length > 0 ? "default" : "filled"} onClick={() => setAdds(true)}>
            Add a provider…
          </Button>
        )}
      </Group>
      <Problem error={compare.error} />
      {compared && <Decision key={compared.preview.digest} zone={zone} compared={compared} />}
      {adds && (
        <NewProvider
          zone={zone}
          taken={accounts.map(({ name }) => name)}
          onClose={() => setAdds(false)}
          onCompared={(made) => {
            setAdds(false);
            setCompared(made);
          }}
        />
      )}
    </>
  );
}

function Chosen(props: {
  readonly provider: string;
  readonly known: readonly WireProvider[];
  readonly busy: boolean;
  readonly onCompare: () => void;
  readonly onChoose: (name: string | null) => void;
}) {
  return (
    <>
      <Select
        label="Provider"
        data={props.known.map(({ name, service }) => ({ value: name, label: `${service} (${name})` }))}
        value={props.provider}
        allowDeselect={false}
        onChange={props.onChoose}
      />
      <Button loading={props.busy} onClick={props.onCompare}>
        Compare
      </Button>
    </>
  );
}

function Decision({ zone, compared }: { readonly zone: string; readonly compared: Compared }) {
  const { wanted, preview } = compared;
  const { request } = useSession();
  const queries = useQueryClient();
  const { service, refused } = preview;
  const [fill, setFill] = useState<"theirs" | "ours">("theirs");
  const publish = usePassingError(
    useMutation({
      mutationFn: () =>
        writeZone(request, "POST", `${zonePath(zone)}/actions/publish`, { ...wanted, digest: preview.digest, fill }),
      onSettled: async () => {
        await queries.invalidateQueries({ queryKey: ["providers"] });
        await queries.invalidateQueries({ queryKey: ["zone", zone] });
      },
    }),
  );
  return (
    <Stack gap="sm">
      <PreviewTables preview={preview} />
      <Radio.Group
        label="Where they differ"
        value={fill}
        onChange={(value) => setFill(value === "ours" ? "ours" : "theirs")}
      >
        <Stack gap="xs" mt="xs">
          <Radio
            value="theirs"
            label={`Take what ${service} has`}
            description={`Records that are only here are deleted here. Nothing is written at ${service}.`}
          />
          <Radio
            value="ours"
            label="Keep what is here"
            description={`Records that are only at ${service} are deleted there.`}
            disabled={refused.ours.length > 0}
          />
        </Stack>
      </Radio.Group>
      {refused[fill].length > 0 && (
        <p className="note" role="alert" style={{ margin: 0 }}>
          It cannot be published so: {refused[fill].join("; ")}.
        </p>
      )}
      <Problem error={publish.error} />
      <Group>
        <Button loading={publish.isPending} disabled={refused[fill].length > 0} onClick={() => publish.mutate()}>
          Publish at {service}
        </Button>
      </Group>
    </Stack>
  );
}
