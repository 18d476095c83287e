import { Group, Radio, Select, Text, TextInput, type TextInputProps } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { MadeToken } from "../../../src/contract/console.ts";
import { parseNetwork } from "../../../src/core/addresses/network.ts";
import { type Scope, writesAllZones } from "../../../src/core/may.ts";
import { absoluteName } from "../../../src/core/names/name.ts";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import { isRecordType, recordTypes } from "../../../src/core/rdata/table.ts";
import { type Fault, fail, faultInWords, ok, type Result } from "../../../src/core/result.ts";
import { MultiChoice } from "../../shared/choice/multi-choice.tsx";
import { FormDialog } from "../../shared/form-dialog.tsx";
import { useSession } from "../../shared/session/session.tsx";
import { endOfDay } from "../../shared/time/days.ts";
import { keptName } from "../sets/shown-name.ts";
import { typedOwner } from "../sets/typed-owner.ts";
import { ZoneChoice } from "../zones/zone-choice.tsx";
import { scopeInWords } from "./scope-in-words.ts";

type Draft = {
  readonly name: string;
  readonly access: "read" | "write";
  readonly zones: readonly string[];
  readonly owner: string;
  readonly types: readonly string[];
  /** A number of days from now, `day` for the chosen date, or empty for never. */
  readonly ends: string;
  readonly day: string;
  readonly networks: string;
};

const empty: Draft = { name: "", access: "write", zones: [], owner: "", types: [], ends: "", day: "", networks: "" };

const longestName = 100;

function startingWith(zone: string | null, owner: string | null): Draft {
  if (zone === null || owner === null) return empty;
  return {
    ...empty,
    name: nameToUnicode(absoluteName(owner, zone)).slice(0, longestName),
    zones: [zone],
    owner: nameToUnicode(owner),
  };
}

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
  const [draft, setDraft] = useState(() => startingWith(props.zone, props.owner));
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
  const put = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }));
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

type TextPart = "name" | "owner" | "day" | "networks";
type Faults = Readonly<Partial<Record<TextPart, string | undefined>>>;

function faultsOf(draft: Draft, scope: Scope): Faults {
  const owner = readOwner(draft);
  const strange = scope.networks?.find((text) => parseNetwork(text) === undefined);
  return {
    name: draft.name.trim() === "" ? "required, so that you recognise it in the list" : undefined,
    owner: owner.ok ? undefined : owner.faults.map(faultInWords).join(". "),
    day: draft.ends === "day" && scope.expires === undefined ? "choose today or a later day" : undefined,
    networks: strange === undefined ? undefined : `${strange} is not a network; use one such as 192.0.2.0/24`,
  };
}

type FieldProps = {
  readonly draft: Draft;
  readonly put: (changes: Partial<Draft>) => void;
  readonly faults: Faults;
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
  <Radio.Group label="Access" value={draft.access} onChange={(access) => put({ access: access as Draft["access"] })}>
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

/** The name may end with the zone's name only if exactly one zone is chosen. */
function readOwner({ owner, zones: [zone, ...others] }: Draft): Result<string> {
  if (owner.trim() === "") return ok("");
  const only = others.length === 0 ? zone : undefined;
  const read = typedOwner(owner, only ?? "zone.invalid");
  return read.ok || only !== undefined || read.faults[0]?.code !== "out-of-zone" ? read : fail(wholeName);
}

const wholeName: Fault = {
  code: "out-of-zone",
  where: "owner",
  message: "a full name needs exactly one zone",
  todo: "choose one zone, or leave the zone's name out, as in home",
};

const dayLong = 86_400_000;

/** The end of the day in the reader's time zone; undefined for never, and for a day that is invalid or in the past. */
function endOf({ ends: end, day }: Draft, now: number): number | undefined {
  if (end !== "day") return end === "" ? undefined : now + Number(end) * dayLong;
  const last = endOfDay(day);
  return last > now ? last : undefined;
}

function scopeOf(draft: Draft, now: number): Scope {
  const { access, zones, types, networks } = draft;
  const owner = readOwner(draft);
  const [name, known] = [owner.ok ? owner.value : keptName(draft.owner), types.filter(isRecordType)];
  const rule = { ...(name !== "" && { owner: name }), ...(known.length > 0 && { types: known }) };
  const from = networks.split(/[\s,]+/).filter((text) => text !== "");
  const expires = endOf(draft, now);
  return {
    access,
    ...(zones.length > 0 && { zones }),
    ...((name !== "" || known.length > 0) && { sets: [rule] }),
    ...(expires !== undefined && { expires }),
    ...(from.length > 0 && { networks: from }),
  };
}
