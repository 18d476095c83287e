import { Checkbox, Group, NativeSelect, Stack, TextInput } from "@mantine/core";
import { useId } from "react";
import type { EditableNames, FamilyField, NameFields } from "../../src/contract/updater-page.ts";

export const emptyFields: NameFields = {
  name: "",
  zone: "",
  source: "",
  target: "",
  ttl: "",
  create: false,
  paused: false,
  ipv4: { isOn: true, devices: "" },
  ipv6: { isOn: false, devices: "" },
};

export type FieldErrors = Readonly<Partial<Record<string, string>>>;

type Props = {
  readonly known: EditableNames;
  readonly fields: NameFields;
  readonly errors: FieldErrors;
  readonly onChange: (fields: NameFields) => void;
};

/** The settings of a name that people change often. */
export function NameForm({ known, fields, errors, onChange }: Props) {
  const set = <K extends keyof NameFields>(key: K, value: NameFields[K]) => onChange({ ...fields, [key]: value });
  const zones = [...new Set(known.entries.map(({ fields: { zone } }) => zone))];
  const [sourceList, zoneList] = [useId(), useId()];
  const text = (key: "name" | "zone" | "source" | "ttl") => ({
    value: fields[key],
    error: errors[key],
    onChange: (event: { readonly currentTarget: { readonly value: string } }) => set(key, event.currentTarget.value),
    autoComplete: "off",
    autoCapitalize: "none",
    spellCheck: false,
  });
  const target = known.targets.find(({ name }) => name === fields.target) ?? known.targets[0];
  return (
    <Stack gap="sm">
      <Group grow align="start">
        <TextInput label="Name" description="@ for the zone itself" placeholder="home" {...text("name")} />
        <TextInput
          label="Zone"
          description="The domain it is in"
          placeholder="example.org"
          list={zoneList}
          {...text("zone")}
        />
      </Group>
      <datalist id={zoneList}>
        {zones.map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
      {(known.sources.length > 1 || fields.source !== "") && (
        <>
          <TextInput
            label="Source"
            description="Where its addresses come from; several, separated by commas, are tried in this order"
            list={sourceList}
            {...text("source")}
          />
          <datalist id={sourceList}>
            {known.sources.map(({ name }) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </>
      )}
      <FamilyInput
        label="IPv4 (A)"
        error={errors.ipv4}
        field={fields.ipv4}
        known={known}
        source={fields.source}
        onChange={(field) => set("ipv4", field)}
      />
      <FamilyInput
        label="IPv6 (AAAA)"
        error={errors.ipv6}
        field={fields.ipv6}
        known={known}
        source={fields.source}
        onChange={(field) => set("ipv6", field)}
      />
      <Group grow align="start">
        {known.targets.length > 1 && (
          <NativeSelect
            label="Written to"
            value={fields.target}
            error={errors.target}
            onChange={(event) => set("target", event.currentTarget.value)}
            data={[{ value: "", label: "choose…" }, ...known.targets.map(({ name }) => name)]}
          />
        )}
        {(target?.ttl || fields.ttl !== "") && (
          <TextInput
            label="TTL"
            description="In seconds; leave it empty to keep the record's own"
            inputMode="numeric"
            {...text("ttl")}
          />
        )}
      </Group>
      {(target?.create || fields.create) && (
        <Checkbox
          label="Create the record if it does not exist"
          checked={fields.create}
          error={errors.create}
          onChange={(event) => set("create", event.currentTarget.checked)}
        />
      )}
    </Stack>
  );
}

type FamilyProps = {
  readonly label: string;
  readonly error: string | undefined;
  readonly field: FamilyField;
  readonly known: EditableNames;
  readonly source: string;
  readonly onChange: (field: FamilyField) => void;
};

/** A source that knows only one connection needs no interface. */
function FamilyInput({ label, error, field, known, source, onChange }: FamilyProps) {
  const list = useId();
  const wanted = source.split(",").map((name) => name.trim());
  const sources = known.sources.filter(({ name }) => source.trim() === "" || wanted.includes(name));
  const devices = [...new Set(sources.flatMap((each) => (each.isOne ? [] : each.devices)))];
  const isAsked = field.isOn && (sources.length === 0 || sources.some(({ isOne }) => !isOne) || field.devices !== "");
  const example = devices[0] ?? "pppoe0";
  return (
    <div>
      <Checkbox
        label={label}
        checked={field.isOn}
        error={isAsked ? undefined : error}
        onChange={(event) => onChange({ ...field, isOn: event.currentTarget.checked })}
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
          onChange={(event) => onChange({ ...field, devices: event.currentTarget.value })}
        />
      )}
      <datalist id={list}>
        {devices.map((device) => (
          <option key={device} value={device} />
        ))}
      </datalist>
    </div>
  );
}
