import { Checkbox, Group, Radio, Switch, TextInput } from "@mantine/core";
import { useState } from "react";
import type { ConsolePeople, ConsolePreset, ConsoleUser, MadeKey } from "../../src/contract/console-firewall.ts";
import { FormDialog } from "../shared/form-dialog.tsx";
import { useSession } from "../shared/session/session.tsx";
import { SureButton } from "../shared/sure-button.tsx";
import { dayOf, endOfDay, lastMoment } from "../shared/time/days.ts";
import { atFields, changedParts, usePeopleWrite } from "./people.ts";

type Props = {
  readonly edited: ConsoleUser | undefined;
  readonly people: ConsolePeople;
  readonly onClose: () => void;
  /** Called with the key of a new user. */
  readonly onMade: (made: MadeKey) => void;
};

export function UserForm({ edited: present, people, onClose, onMade }: Props) {
  const [edited] = useState(present);
  const start = useNewUser(people);
  const [name, setName] = useState(edited?.name);
  const [fullName, setFullName] = useState(edited?.fullName ?? "");
  const [boxes, setBoxes] = useState<readonly string[]>(edited?.privileges ?? ["interface-status"]);
  const [networks, setNetworks] = useState(edited?.networks.join(", ") ?? "");
  const [last, setLast] = useState(lastDayOf(edited));
  const [disabled, setDisabled] = useState(edited?.disabled ?? false);
  const write = usePeopleWrite<MadeKey | undefined>((made) => {
    onClose();
    if (made !== undefined) onMade(made);
  });
  const { sending, faultOf } = atFields(write, ["name", "fullName", "expires", "privileges", "networks"]);
  const isOwn = edited?.name === useSession().session.name;
  const preset = edited ? undefined : start.preset;
  const shownName = name ?? start.name;
  const path = `users/${encodeURIComponent(shownName)}`;
  const expires = edited && last === lastDayOf(edited) ? edited.expires : endOf(last);
  const privileges = preset?.privileges ?? boxes;
  const expiryFault = expires === undefined ? "use a year with four digits" : faultOf("expires");
  const input = { name: shownName.trim(), fullName, privileges, networks: listIn(networks), disabled, expires };
  const saving = edited
    ? ({ method: "PUT", path, body: changedParts(edited, input) } as const)
    : ({ method: "POST", path: "users", body: { ...input, withKey: start.withKey } } as const);
  const remove = () => write.mutate({ method: "DELETE", path });
  return (
    <FormDialog
      title={edited ? edited.name : "New user"}
      holds={input}
      onClose={onClose}
      onSubmit={() => expires !== undefined && write.mutate(saving)}
      submit={edited ? "Save" : start.withKey ? "Create user and key" : "Create user"}
      sending={sending}
      other={edited && !isOwn && <RemoveButton loading={write.isPending} onSure={remove} />}
    >
      {!edited && <PresetChoice presets={people.presets} chosen={preset} onChoose={start.choose} />}
      <Group grow align="flex-start">
        <NameInput typed={name} proposed={start.name} onChange={setName} isFixed={!!edited} fault={faultOf("name")} />
        <TextField label="Full name" value={fullName} onChange={setFullName} fault={faultOf("fullName")} />
      </Group>
      {preset === undefined && (
        <PrivilegeBoxes privileges={people.privileges} held={boxes} onChange={setBoxes} fault={faultOf("privileges")} />
      )}
      <NetworksField value={networks} onChange={setNetworks} fault={faultOf("networks")} />
      <Group align="flex-end">
        <LastDayField value={last} onChange={setLast} fault={expiryFault} />
        {edited ? (
          <DisabledSwitch disabled={disabled} isOwn={isOwn} onChange={setDisabled} />
        ) : (
          <KeyBox checked={start.withKey} onChange={start.setWithKey} />
        )}
      </Group>
    </FormDialog>
  );
}

const RemoveButton = (props: { readonly loading: boolean; readonly onSure: () => void }) => (
  <SureButton ask="Remove…" sure="Yes, remove with all keys" {...props} />
);

type FieldProps = {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly fault: string | undefined;
};

const NetworksField = (props: FieldProps) => (
  <TextField
    label="Only from these networks (empty: from anywhere)"
    placeholder="192.0.2.0/24, 2001:db8::/32"
    {...props}
  />
);

const listIn = (text: string): readonly string[] => text.split(/[\s,]+/).filter((part) => part !== "");

const LastDayField = (props: FieldProps) => <TextField label="Valid until (empty: no expiry)" type="date" {...props} />;

function TextField(
  props: FieldProps & { readonly label: string; readonly type?: "date"; readonly placeholder?: string },
) {
  const { fault, onChange, ...field } = props;
  return <TextInput {...field} onChange={(event) => onChange(event.currentTarget.value)} error={fault} />;
}

function DisabledSwitch(props: {
  readonly disabled: boolean;
  readonly isOwn: boolean;
  readonly onChange: (disabled: boolean) => void;
}) {
  return (
    <Switch
      label="Disabled"
      checked={props.disabled}
      disabled={props.isOwn}
      description={props.isOwn && "you cannot disable or remove yourself"}
      onChange={(event) => props.onChange(event.currentTarget.checked)}
      mb={8}
    />
  );
}

const KeyBox = ({
  checked,
  onChange,
}: {
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}) => (
  <Checkbox
    label="Create a key"
    description="for programs; its secret is shown once"
    checked={checked}
    onChange={(event) => onChange(event.currentTarget.checked)}
  />
);

/** The initial values of a new user: the first preset, a free name, and whether to create a key. */
function useNewUser({ presets, users }: ConsolePeople) {
  const [preset, setPreset] = useState<ConsolePreset | undefined>(presets[0]);
  const [withKey, setWithKey] = useState(preset?.withKey ?? false);
  const isTaken = (name: string) => users.some((user) => user.name === name);
  const usual = preset?.name.toLowerCase() ?? "";
  const free = Array.from({ length: users.length + 1 }, (_, i) => (i === 0 ? usual : `${usual}-${i + 1}`));
  return {
    preset,
    withKey,
    setWithKey,
    name: preset === undefined ? "" : (free.find((name) => !isTaken(name)) ?? ""),
    choose: (chosen: ConsolePreset | undefined) => {
      setPreset(chosen);
      setWithKey(chosen?.withKey ?? false);
    },
  };
}

function PresetChoice(props: {
  readonly presets: readonly ConsolePreset[];
  readonly chosen: ConsolePreset | undefined;
  readonly onChoose: (preset: ConsolePreset | undefined) => void;
}) {
  const { presets, chosen, onChoose } = props;
  return (
    <Radio.Group
      label="What is this user for?"
      value={chosen?.name ?? "Other"}
      onChange={(name) => onChoose(presets.find((each) => each.name === name))}
    >
      <div className="boxes">
        {presets.map(({ name, purpose }) => (
          <Radio key={name} value={name} label={name} description={purpose} />
        ))}
        <Radio value="Other" label="Other" description="Choose the privileges one by one." />
      </div>
    </Radio.Group>
  );
}

const lastDayOf = (user: ConsoleUser | undefined): string => (user?.expires ? dayOf(lastMoment(user.expires)) : "");

/** The user is still valid on that day. Undefined if it is not a day: date fields accept years of six digits. */
function endOf(last: string): string | null | undefined {
  if (last === "") return null;
  const end = endOfDay(last);
  return Number.isNaN(end) ? undefined : new Date(end).toISOString();
}

/** The name identifies a user, so it cannot be changed. */
function NameInput(props: {
  readonly typed: string | undefined;
  /** What is typed replaces it. */
  readonly proposed: string;
  readonly onChange: (name: string) => void;
  readonly isFixed: boolean;
  readonly fault: string | undefined;
}) {
  return (
    <TextInput
      label="Name"
      value={props.typed ?? props.proposed}
      onChange={(event) => props.onChange(event.currentTarget.value)}
      onFocus={(event) => props.typed === undefined && event.currentTarget.select()}
      disabled={props.isFixed}
      error={props.fault}
      autoCapitalize="none"
      spellCheck={false}
      data-autofocus
    />
  );
}

function PrivilegeBoxes(props: {
  readonly privileges: ConsolePeople["privileges"];
  readonly held: readonly string[];
  readonly onChange: (held: readonly string[]) => void;
  readonly fault: string | undefined;
}) {
  return (
    <Checkbox.Group label="Privileges" value={[...props.held]} onChange={props.onChange} error={props.fault}>
      <div className="boxes">
        {props.privileges.map(({ id, name }) => (
          <Checkbox key={id} value={id} label={id} description={name} />
        ))}
      </div>
    </Checkbox.Group>
  );
}
