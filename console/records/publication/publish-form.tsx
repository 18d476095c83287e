import { Button, Group, Radio, Select, Stack, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { WirePreview, WireProvider } from "../../../src/contract/front.ts";
import { Problem } from "../../shared/live/problem.tsx";
import { usePassingError } from "../../shared/live/use-passing-error.ts";
import { Waiting } from "../../shared/live/waiting.tsx";
import { useSession } from "../../shared/session/session.tsx";
import { writeZone, zonePath } from "../api.ts";
import { NewProvider } from "./new-provider.tsx";
import { PreviewTables } from "./preview-tables.tsx";

/** First which provider, then what is different there, and only then the decision. */
export function PublishForm({ zone }: { readonly zone: string }) {
  const { request } = useSession();
  const [chosen, setChosen] = useState<string | null>(null);
  const [adds, setAdds] = useState(false);
  const providers = useProviders();
  const accounts = providers.data ?? [];
  const provider = chosen ?? accounts[0]?.name ?? null;
  const compare = usePassingError(
    useMutation({
      mutationFn: async (name: string) => {
        const path = `${zonePath(zone)}/publication/preview?provider=${encodeURIComponent(name)}`;
        return { name, preview: (await request<{ preview: WirePreview }>("GET", path)).preview };
      },
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
      {compare.data && <Decision zone={zone} provider={compare.data.name} preview={compare.data.preview} />}
      {adds && (
        <NewProvider
          taken={accounts.map(({ name }) => name)}
          onClose={() => setAdds(false)}
          onMade={(name) => {
            setAdds(false);
            setChosen(name);
            compare.mutate(name);
          }}
        />
      )}
    </>
  );
}

function useProviders() {
  const { request } = useSession();
  return useQuery({
    queryKey: ["providers"],
    queryFn: async () => (await request<{ providers: readonly WireProvider[] }>("GET", "/v1/providers")).providers,
  });
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

function Decision(props: { readonly zone: string; readonly provider: string; readonly preview: WirePreview }) {
  const { zone, provider, preview } = props;
  const { request } = useSession();
  const queries = useQueryClient();
  const [fill, setFill] = useState("theirs");
  const publish = usePassingError(
    useMutation({
      mutationFn: () =>
        writeZone(request, "POST", `${zonePath(zone)}/actions/publish`, { provider, digest: preview.digest, fill }),
      onSettled: () => queries.invalidateQueries({ queryKey: ["zone", zone] }),
    }),
  );
  const { service } = preview;
  return (
    <Stack gap="sm">
      <PreviewTables preview={preview} />
      <Radio.Group label="Where they differ" value={fill} onChange={setFill}>
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
            disabled={preview.not_allowed.length > 0}
          />
        </Stack>
      </Radio.Group>
      <Problem error={publish.error} />
      <Group>
        <Button loading={publish.isPending} onClick={() => publish.mutate()}>
          Publish at {service}
        </Button>
      </Group>
    </Stack>
  );
}
