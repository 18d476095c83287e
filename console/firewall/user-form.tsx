import { Checkbox, Group, Switch, TextInput } from "@mantine/core";
import { useState } from "react";
import type { ConsolePeople, ConsoleUser } from "../../src/contract/console-firewall.ts";
import { FormDialog } from "../shared/form-dialog.tsx";
import { useSession } from "../shared/session/session.tsx";
import { SureButton } from "../shared/sure-button.tsx";
import { dayOf, endOfDay, lastMoment } from "../shared/time/days.ts";
import { changedParts, usePeopleWrite } from "./people.ts";

type Props = {
  readonly edited: ConsoleUser | undefined;
  readonly privileges: ConsolePeople["privileges"];
  readonly onClose: () => void;
};

export function UserForm({ edited: present, privileges, onClose }: Props) {
  const [edited] = useState(present);
  const [name, setName] = useState(edited?.name ?? "");
  const [fullName, setFullName] = useState(edited?.fullName ?? "");
  const [held, setHeld] = useState<readonly string[]>(edited?.privileges ?? ["interface-status"]);
  const [last, setLast] = useState(lastDayOf(edited));
  const [disabled, setDisabled] = useState(edited?.disabled ?? false);
  const write = usePeopleWrite(onClose);
  const isOwn = edited?.name === useSession().session.name;
  const path = `users/${encodeURIComponent(name)}`;
  const expires = edited && last === lastDayOf(edited) ? edited.expires : endOf(last);
  const wish = { name: name.trim(), fullName, privileges: held, disabled, expires };
  const save = () => {
    if (expires === undefined) return;
    write.mutate(
      edited
        ? { method: "PUT", path, body: changedParts(edited, wish) }
        : { method: "POST", path: "users", body: wish },
    );
  };
  return (
    <FormDialog
      title={edited ? edited.name : "New user"}
      holds={wish}
      onClose={onClose}
      onSubmit={save}
      submit={edited ? "Save" : "Create user"}
      sending={write}
      other={
        edited &&
        !isOwn && (
          <SureButton
            ask="Remove…"
            sure="Yes, remove with all keys"
            loading={write.isPending}
            onSure={() => write.mutate({ method: "DELETE", path })}
          />
        )
      }
    >
      <Group grow align="flex-start">
        <NameInput name={name} onChange={setName} stays={edited !== undefined} />
        <TextInput label="Full name" value={fullName} onChange={(event) => setFullName(event.currentTarget.value)} />
      </Group>
      <PrivilegeBoxes privileges={privileges} held={held} onChange={setHeld} />
      <Group align="flex-end">
        <TextInput
          label="Valid until (empty: no expiry)"
          type="date"
          value={last}
          onChange={(event) => setLast(event.currentTarget.value)}
          error={expires === undefined && "use a year with four digits"}
        />
        <Switch
          label="Disabled"
          checked={disabled}
          disabled={isOwn}
          description={isOwn && "you cannot disable or remove yourself"}
          onChange={(event) => setDisabled(event.currentTarget.checked)}
          mb={8}
        />
      </Group>
    </FormDialog>
  );
}

const lastDayOf = (user: ConsoleUser | undefined): string => (user?.expires ? dayOf(lastMoment(user.expires)) : "");

/** The user is still valid on that day. Undefined if it is not a day: date fields accept years of six digits. */
function endOf(last: string): string | null | undefined {
  if (last === "") return null;
  const end = endOfDay(last);
  return Number.isNaN(end) ? undefined : new Date(end).toISOString();
}

/** The name identifies a user or a group, so it cannot be changed. */
export function NameInput(props: {
  readonly name: string;
  readonly onChange: (name: string) => void;
  readonly stays: boolean;
}) {
  return (
    <TextInput
      label="Name"
      value={props.name}
      onChange={(event) => props.onChange(event.currentTarget.value)}
      disabled={props.stays}
      autoCapitalize="none"
      spellCheck={false}
      data-autofocus
    />
  );
}

export function PrivilegeBoxes(props: {
  readonly privileges: ConsolePeople["privileges"];
  readonly held: readonly string[];
  readonly onChange: (held: readonly string[]) => void;
}) {
  return (
    <Checkbox.Group label="Privileges" value={[...props.held]} onChange={props.onChange}>
      <div className="boxes">
        {props.privileges.map(({ id, name }) => (
          <Checkbox key={id} value={id} label={id} description={name} />
        ))}
      </div>
    </Checkbox.Group>
  );
}
