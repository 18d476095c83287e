import { Group, Radio, Select, Text, TextInput, type TextInputProps } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { MadeToken } from "../../../src/contract/console.ts";
import { writesAllZones } from "../../../src/core/may.ts";
import { recordTypes } from "../../../src/core/rdata/table.ts";
import { MultiChoice } from "../../shared/choice/multi-choice.tsx";
import { FormDialog } from "../../shared/form-dialog.tsx";
import { useSession } from "../../shared/session/session.tsx";
import { ZoneChoice } from "../zones/zone-choice.tsx";
import { scopeInWords } from "./scope-in-words.ts";
import {
  draftFor,
  faultsOf,
  longestName,
  scopeOf,
  type TextPart,
  type TokenDraft,
  type TokenFaults,
} from "./token-draft.ts";

const ends = [
  { value: "", label: "never" },
  { value: "7", label: "in a week" },
  { value: "30", label: "in 30 days" },
  { value: "90", label: "in 90 days" },
  { value: "365", label: "in a year" },
  { value: "day", label: "on a date…" },
];

/** A form for a token with only the permissions it needs, which are summed up in words before it is created. */
export function NewToken(props: {
  /** The zone and the name that it starts with, from the row of a record. */
  readonly zone: string | null;
  readonly owner: string | null;
  readonly onClose: () => void;
  readonly onMade: (made: MadeToken) => void;
}) {
  const { request } = useSession();
  const [draft, setDraft] = useState(() => draftFor(props.zone, props.owner));
  const [tried, setTried] = useState(false);
  const scope = scopeOf(draft, Date.now());
  const faults = faultsOf(draft, scope);
  const [asked, setAsked] = useState(false);
  const asks = asked && writesAllZones(scope);
  const make = useMutation({
    mutationFn: () =>
      request<MadeToken>("POST", "/console/tokens", { name: draft.name, scope, ...(asks && { allZones: true }) }),
    onSuccess: props.onMade,
  });
  const put = (changes: Partial<TokenDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const submit = () => {
    setTried(true);
    if (Object.values(faults).some((fault) => fault !== undefined)) return;
    setAsked(writesAllZones(scope));
    if (asks || !writesAllZones(scope)) make.mutate();
  };
  const field = { draft, put, faults: tried ? faults : {} };
  return (
    <FormDialog
      title="New token"
      holds={draft}
      onClose={props.onClose}
      onSubmit={submit}
      submit={asks ? "Yes, for all zones" : "Create token"}
      sending={make}
    >
      <TextField
        {...field}
        part="name"
        label="What is it for?"
        placeholder="router at home"
        maxLength={longestName}
        data-autofocus
      />
      <AccessChoice {...field} />
      <ZoneChoice label="Zones" placeholder="all zones" chosen={draft.zones} onChange={(zones) => put({ zones })} />
      <WhichSets {...field} />
      <WhenAndWhere {...field} />
      <Text size="sm" role="status">
        It <b>{scopeInWords(scope)}</b>.
      </Text>
      {asks && (
        <p className="note" role="alert" style={{ margin: 0 }}>
          A program with this token can change and delete every record in every zone, delete zones and create new ones.
          Is that what you want? To limit it, choose zones, a name or types above.
        </p>
      )}
    </FormDialog>
  );
}

type FieldProps = {
  readonly draft: TokenDraft;
  readonly put: (changes: Partial<TokenDraft>) => void;
  readonly faults: TokenFaults;
};

function TextField({ draft, put, faults, part, ...shown }: FieldProps & { readonly part: TextPart } & TextInputProps) {
  return (
    <TextInput
      {...shown}
      value={draft[part]}
      onChange={(event) => put({ [part]: event.currentTarget.value })}
      error={faults[part]}
    />
  );
}

const AccessChoice = ({ draft, put }: FieldProps) => (
  <Radio.Group
    label="Access"
    value={draft.access}
    onChange={(access) => put({ access: access as TokenDraft["access"] })}
  >
    <Group mt={4}>
      <Radio value="write" label="read and write" />
      <Radio value="read" label="read only" />
    </Group>
  </Radio.Group>
);

const WhichSets = (field: FieldProps) => (
  <div className="fields">
    <TextField
      {...field}
      part="owner"
      label="Only this name"
      placeholder="any; for example home"
      autoCapitalize="none"
      spellCheck={false}
    />
    <MultiChoice
      label="Only these types"
      whenEmpty="any"
      noun="type"
      options={recordTypes}
      chosen={field.draft.types}
      onChange={(types) => field.put({ types })}
    />
  </div>
);

const WhenAndWhere = (field: FieldProps) => (
  <div className="fields">
    <Select
      label="Expires"
      data={ends}
      value={field.draft.ends}
      onChange={(chosen) => field.put({ ends: chosen ?? "" })}
      allowDeselect={false}
    />
    {field.draft.ends === "day" && <TextField {...field} part="day" label="Last day" type="date" />}
    <TextField {...field} part="networks" label="Only from" placeholder="anywhere; for example 192.0.2.0/24" />
  </div>
);
