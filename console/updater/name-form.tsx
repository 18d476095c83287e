import { Checkbox, Group, NativeSelect, Stack, TextInput } from "@mantine/core";
import { useId } from "react";
import type { EditableNames, FamilyField, NameFields } from "../../src/contract/updater-page.ts";
import { asksDevice, sourcesOf } from "./missing-fields.ts";

export type FieldErrors = Readonly<Partial<Record<string, string>>>;

type Props = {
  readonly known: EditableNames;
  readonly fields: NameFields;
  readonly errors: FieldErrors;
  readonly onChange: (fields: NameFields) => void;
};

/** The settings of a name that people change often. */
export function NameForm(props: Props) {
  const { known, fields, errors, onChange } = props;
  const target = known.targets.find(({ name }) => name === fields.target) ?? known.targets[0];
  return (
    <Stack gap="sm">
      <div className="fields">
        <TextInput
          label="Name"
          description="@ for the zone itself"
          placeholder="home"
          data-autofocus
          {...textOf(props, "name")}
        />
        <ZoneInput {...props} />
      </div>
      {(known.sources.length > 1 || fields.source !== "") && <SourceInput {...props} />}
      <FamilyInput label="IPv4 (A)" family="ipv4" {...props} />
      <FamilyInput label="IPv6 (AAAA)" family="ipv6" {...props} />
      <Group grow align="start">
        {known.targets.length > 1 && (
          <NativeSelect
            label="Written to"
            value={fields.target}
            error={errors.target}
            onChange={(event) => onChange({ ...fields, target: event.currentTarget.value })}
            data={[
              { value: "", label: "choose…" },
              ...known.targets.map(({ name, called }) => ({ value: name, label: `${name}: ${called}` })),
            ]}
          />
        )}
        {(target?.ttl || fields.ttl !== "") && (
          <TextInput
            label="TTL"
            description="In seconds; leave it empty to keep the record's own"
            inputMode="numeric"
            {...textOf(props, "ttl")}
          />
        )}
      </Group>
      {(target?.create || fields.create) && (
        <Checkbox
          label="Create the record if it does not exist"
          checked={fields.create}
          error={errors.create}
          onChange={(event) => onChange({ ...fields, create: event.currentTarget.checked })}
        />
      )}
    </Stack>
  );
}

const textOf = ({ fields, errors, onChange }: Props, key: "name" | "zone" | "source" | "ttl") => ({
  value: fields[key],
  error: errors[key],
  onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
    onChange({ ...fields, [key]: event.currentTarget.value }),
  autoComplete: "off",
  autoCapitalize: "none",
  spellCheck: false,
});

function ZoneInput(props: Props) {
  const list = useId();
  const zones = new Set(props.known.entries.map(({ fields: { zone } }) => zone));
  return (
    <>
      <TextInput
        label="Zone"
        description="The domain it is in"
        placeholder="example.org"
        list={list}
        {...textOf(props, "zone")}
      />
      <Proposals id={list} values={[...zones]} />
    </>
  );
}

function SourceInput(props: Props) {
  const list = useId();
  const known = props.known.sources;
  return (
    <>
      <TextInput
        label="Source"
        description={`${known.map(({ name, called }) => `${name}: ${called}`).join("; ")}. Several, separated by commas, are tried in this order.`}
        list={list}
        {...textOf(props, "source")}
      />
      <Proposals id={list} values={known.map(({ name }) => name)} />
    </>
  );
}

const Proposals = ({ id, values }: { readonly id: string; readonly values: readonly string[] }) => (
  <datalist id={id}>
    {values.map((value) => (
      <option key={value} value={value} />
    ))}
  </datalist>
);

type FamilyProps = Props & { readonly label: string; readonly family: "ipv4" | "ipv6" };

function FamilyInput({ label, family, known, fields, errors, onChange }: FamilyProps) {
  const list = useId();
  const field = fields[family];
  const error = errors[family];
  const change = (changed: Partial<FamilyField>) => onChange({ ...fields, [family]: { ...field, ...changed } });
  const sources = sourcesOf(fields, known.sources);
  const devices = [...new Set(sources.flatMap((each) => (each.isOne ? [] : each.devices)))];
  const isAsked = asksDevice(fields, family, known.sources);
  const example = devices[0] ?? "pppoe0";
  return (
    <div>
      <Checkbox
        label={label}
        checked={field.isOn}
        error={isAsked ? undefined : error}
        onChange={(event) => change({ isOn: event.currentTarget.checked })}
      />
      {isAsked && (
        <TextInput
          mt={4}
          ml={28}
          aria-label={`Interface for ${label}`}
          placeholder={`the interface, such as ${example}`}
          value={field.devices}
          error={error}
          list={list}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          onChange={(event) => change({ devices: event.currentTarget.value })}
        />
      )}
      <Proposals id={list} values={devices} />
    </div>
  );
}
