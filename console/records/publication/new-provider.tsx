import { PasswordInput, Select, Text, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { WireProvider } from "../../../src/contract/front.ts";
import { FormDialog } from "../../shared/form-dialog.tsx";
import { useSession } from "../../shared/session/session.tsx";
import { type ProviderKind, providerKinds } from "./publication-words.ts";

/** The one powerful token, which is stored here so that nobody else needs it. */
export function NewProvider(props: {
  readonly taken: readonly string[];
  readonly onClose: () => void;
  readonly onMade: (name: string) => void;
}) {
  const { request } = useSession();
  const queries = useQueryClient();
  const [kind, setKind] = useState<ProviderKind>(providerKinds[0]);
  const [name, setName] = useState("");
  const [token, setToken] = useState("");
  const [url, setUrl] = useState("");
  const [ca, setCa] = useState("");
  const isOwnServer = kind.url?.startsWith("https:") === true;
  const usedName = name.trim() || freeName(kind.kind, props.taken);
  const make = useMutation({
    mutationFn: () =>
      request<{ provider: WireProvider }>("POST", "/v1/providers", {
        ...{ name: usedName, kind: kind.kind, token: token.trim() },
        ...(kind.url !== undefined && { url: url.trim() }),
        ...(isOwnServer && ca.trim() !== "" && { ca: ca.trim() }),
      }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["providers"] });
      props.onMade(usedName);
    },
  });
  return (
    <FormDialog
      title="Add a provider"
      holds={{ kind: kind.kind, name, token, url, ca }}
      submit="Add and compare"
      cannot={token.trim() === "" || (kind.url !== undefined && url.trim() === "")}
      sending={make}
      onClose={props.onClose}
      onSubmit={() => make.mutate()}
    >
      <Select
        label="Provider"
        data={providerKinds.map((each) => ({ value: each.kind, label: each.name }))}
        value={kind.kind}
        allowDeselect={false}
        onChange={(value) => setKind(providerKinds.find((each) => each.kind === value) ?? kind)}
        data-autofocus
      />
      {kind.url !== undefined && (
        <TextInput
          label="URL"
          placeholder={kind.url}
          value={url}
          onChange={({ currentTarget }) => setUrl(currentTarget.value)}
        />
      )}
      <PasswordInput
        label="Token"
        description={kind.token}
        autoComplete="off"
        value={token}
        onChange={({ currentTarget }) => setToken(currentTarget.value)}
      />
      {isOwnServer && (
        <Textarea
          label="Certificate to trust"
          description="Only if its certificate is from a private authority, such as moor’s own: the text of its ca.pem"
          placeholder="-----BEGIN CERTIFICATE-----"
          autosize
          minRows={2}
          maxRows={6}
          value={ca}
          onChange={({ currentTarget }) => setCa(currentTarget.value)}
        />
      )}
      <TextInput
        label="Name"
        description="How this token is called here"
        placeholder={freeName(kind.kind, props.taken)}
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <Text size="sm" className="quiet">
        The token is stored encrypted and never shown again. Comparing writes nothing.
      </Text>
    </FormDialog>
  );
}

function freeName(kind: string, taken: readonly string[]): string {
  if (!taken.includes(kind)) return kind;
  let number = 2;
  while (taken.includes(`${kind}-${number}`)) number += 1;
  return `${kind}-${number}`;
}
