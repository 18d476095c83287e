import { PasswordInput, Select, Text, Textarea, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { FormDialog } from "../../shared/form-dialog.tsx";
import { useSession } from "../../shared/session/session.tsx";
import { type OfferedProvider, offeredProviders, usualProvider } from "./publication-words.ts";
import { type Compared, compareZone } from "./read-publication.ts";

/** The one powerful token, which is stored here, when the zone is published, so that nobody else needs it. */
export function NewProvider(props: {
  readonly zone: string;
  readonly taken: readonly string[];
  readonly onClose: () => void;
  readonly onCompared: (compared: Compared) => void;
}) {
  const { request } = useSession();
  const [draft, setDraft] = useState<Draft>({ kind: usualProvider, name: "", token: "", url: "", ca: "" });
  const { kind } = draft;
  const usedName = draft.name.trim() || freeName(kind.kind, props.taken);
  const compare = useMutation({
    mutationFn: () =>
      compareZone(request, props.zone, {
        provider: usedName,
        account: {
          ...{ kind: kind.kind, token: draft.token.trim() },
          ...(kind.url !== undefined && { url: draft.url.trim() }),
          ...(isOwnServer(kind) && draft.ca.trim() !== "" && { ca: draft.ca.trim() }),
        },
      }),
    onSuccess: props.onCompared,
  });
  return (
    <FormDialog
      title="Add a provider"
      holds={draft}
      submit="Compare"
      cannot={draft.token.trim() === "" || (kind.url !== undefined && draft.url.trim() === "")}
      sending={compare}
      onClose={props.onClose}
      onSubmit={() => compare.mutate()}
    >
      <Fields draft={draft} change={(changed) => setDraft({ ...draft, ...changed })} taken={props.taken} />
      <Text size="sm" className="quiet">
        Comparing stores nothing, here or there. When you publish the zone, the token is stored encrypted, and never
        shown again.
      </Text>
    </FormDialog>
  );
}

type Draft = Readonly<Record<"name" | "token" | "url" | "ca", string>> & { readonly kind: OfferedProvider };

const isOwnServer = ({ url }: OfferedProvider): boolean => url?.startsWith("https:") === true;

function Fields(props: {
  readonly draft: Draft;
  readonly change: (changed: Partial<Draft>) => void;
  readonly taken: readonly string[];
}) {
  const { draft, change, taken } = props;
  const { kind } = draft;
  return (
    <>
      <Select
        label="Provider"
        data={offeredProviders.map((each) => ({ value: each.kind, label: each.name }))}
        value={kind.kind}
        allowDeselect={false}
        onChange={(value) => change({ kind: offeredProviders.find((each) => each.kind === value) ?? kind })}
        data-autofocus
      />
      {kind.url !== undefined && (
        <TextInput
          label="URL"
          placeholder={kind.url}
          value={draft.url}
          onChange={({ currentTarget }) => change({ url: currentTarget.value })}
        />
      )}
      <PasswordInput
        label="Token"
        description={kind.token}
        autoComplete="off"
        value={draft.token}
        onChange={({ currentTarget }) => change({ token: currentTarget.value })}
      />
      {isOwnServer(kind) && (
        <Textarea
          label="Certificate to trust"
          description="Only if its certificate is from a private authority, such as moor’s own: the text of its ca.pem"
          placeholder="-----BEGIN CERTIFICATE-----"
          autosize
          minRows={2}
          maxRows={6}
          value={draft.ca}
          onChange={({ currentTarget }) => change({ ca: currentTarget.value })}
        />
      )}
      <TextInput
        label="Name"
        description="How this token is called here"
        placeholder={freeName(kind.kind, taken)}
        value={draft.name}
        onChange={({ currentTarget }) => change({ name: currentTarget.value })}
      />
    </>
  );
}

function freeName(kind: string, taken: readonly string[]): string {
  if (!taken.includes(kind)) return kind;
  let number = 2;
  while (taken.includes(`${kind}-${number}`)) number += 1;
  return `${kind}-${number}`;
}
