import { Button, Group, PasswordInput, Title } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { WireProvider } from "../../../src/contract/front.ts";
import { counted } from "../../shared/counted.ts";
import { FormDialog } from "../../shared/form-dialog.tsx";
import { ListTable } from "../../shared/list-table.tsx";
import { Problem } from "../../shared/live/problem.tsx";
import { usePassingError } from "../../shared/live/use-passing-error.ts";
import { useSession } from "../../shared/session/session.tsx";
import { SureButton } from "../../shared/sure-button.tsx";
import { When } from "../../shared/time/when.tsx";
import { useProviders } from "./read-publication.ts";

/** The tokens with which zones are published; nothing if there are none. */
export function ProviderList() {
  const providers = useProviders();
  const remove = useRemove();
  const [replacing, setReplacing] = useState<WireProvider>();
  if (!providers.data?.length) return null;
  return (
    <section aria-labelledby="providers">
      <Title order={2} id="providers" mt="lg" mb="sm">
        Providers
      </Title>
      <ListTable heads={["Name", "Zones", "Token stored"]} actions>
        {providers.data.map((provider) => (
          <tr key={provider.id}>
            <td data-label="Name">
              <span>
                <b>{provider.name}</b> <span className="quiet">{provider.service}</span>
              </span>
            </td>
            <td data-label="Zones">{counted(provider.zones, "zone")}</td>
            <td data-label="Token stored">
              <When at={provider.token_replaced} />
            </td>
            <td className="does">
              <Group gap="xs" wrap="nowrap">
                <Button
                  size="compact-xs"
                  variant="default"
                  onClick={() => setReplacing(provider)}
                  aria-label={`Replace token… of ${provider.name}`}
                >
                  Replace token…
                </Button>
                {provider.zones === 0 && (
                  <SureButton
                    ask="Remove…"
                    sure="Remove it"
                    what={provider.name}
                    size="compact-xs"
                    loading={remove.isPending}
                    onSure={() => remove.mutate(provider.name)}
                  />
                )}
              </Group>
            </td>
          </tr>
        ))}
      </ListTable>
      <Problem error={remove.error} />
      {replacing && <ReplaceToken provider={replacing} onClose={() => setReplacing(undefined)} />}
    </section>
  );
}

function useRemove() {
  const { request } = useSession();
  const queries = useQueryClient();
  return usePassingError(
    useMutation({
      mutationFn: (name: string) => request("DELETE", `/v1/providers/${encodeURIComponent(name)}`),
      onSettled: () => queries.invalidateQueries({ queryKey: ["providers"] }),
    }),
  );
}

type Named = Pick<WireProvider, "name" | "service">;

/** It is tried before it replaces the old one. */
export function ReplaceToken({ provider, onClose }: { readonly provider: Named; readonly onClose: () => void }) {
  const { request } = useSession();
  const queries = useQueryClient();
  const [token, setToken] = useState("");
  const path = `/v1/providers/${encodeURIComponent(provider.name)}/actions/replace_token`;
  const replace = useMutation({
    mutationFn: () => request("POST", path, { token: token.trim() }),
    onSuccess: async () => {
      onClose();
      await queries.invalidateQueries({ queryKey: ["providers"] });
      await queries.invalidateQueries({ queryKey: ["zone"] });
    },
  });
  return (
    <FormDialog
      title={`Replace token of ${provider.name}`}
      size="md"
      holds={token}
      submit="Replace token"
      cannot={token.trim() === ""}
      sending={replace}
      onClose={onClose}
      onSubmit={() => replace.mutate()}
    >
      <PasswordInput
        label={`New token of ${provider.service}`}
        description="It is tried, then stored encrypted, used immediately for all zones of this provider, and never shown."
        autoComplete="off"
        value={token}
        onChange={({ currentTarget }) => setToken(currentTarget.value)}
        data-autofocus
      />
    </FormDialog>
  );
}
