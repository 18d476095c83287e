import { Button, Checkbox, Group, Stack, Switch, TextInput } from "@mantine/core";
import { useState } from "react";
import type { ConsolePeople, ConsoleUser } from "../../src/contract/console-firewall.ts";
import { Dialog } from "../shared/dialog.tsx";
import { Problem } from "../shared/problem.tsx";
import { usePeopleWrite } from "./people.ts";

type Props = {
  readonly edited: ConsoleUser | undefined;
  readonly privileges: ConsolePeople["privileges"];
  readonly onClose: () => void;
};

export function UserForm({ edited, privileges, onClose }: Props) {
  const [name, setName] = useState(edited?.name ?? "");
  const [fullName, setFullName] = useState(edited?.fullName ?? "");
  const [held, setHeld] = useState<readonly string[]>(edited?.privileges ?? ["interface-status"]);
  const [expires, setExpires] = useState(edited?.expires?.slice(0, 10) ?? "");
  const [disabled, setDisabled] = useState(edited?.disabled ?? false);
  const [asking, setAsking] = useState(false);
  const write = usePeopleWrite(onClose);
  const path = `users/${encodeURIComponent(name)}`;
  const save = () => {
    const body = { name: name.trim(), fullName, privileges: held, disabled, expires: expires === "" ? null : expires };
    write.mutate(edited ? { method: "PUT", path, body } : { method: "POST", path: "users", body });
  };
  return (
    <Dialog title={edited ? edited.name : "New user"} onClose={onClose}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <Stack gap="sm">
          <Group grow align="flex-start">
            <TextInput
              label="Name"
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
              disabled={edited !== undefined}
              autoCapitalize="none"
              spellCheck={false}
              data-autofocus
            />
            <TextInput
              label="Full name"
              value={fullName}
              onChange={(event) => setFullName(event.currentTarget.value)}
            />
          </Group>
          <PrivilegeBoxes privileges={privileges} held={held} onChange={setHeld} />
          <Group align="flex-end">
            <TextInput
              label="Good until (empty: for ever)"
              type="date"
              value={expires}
              onChange={(event) => setExpires(event.currentTarget.value)}
            />
            <Switch
              label="Disabled"
              checked={disabled}
              onChange={(event) => setDisabled(event.currentTarget.checked)}
              mb={8}
            />
          </Group>
          <Problem error={write.error} />
          <Group justify="space-between">
            {edited ? (
              <Button
                variant={asking ? "filled" : "subtle"}
                color="red"
                onClick={() => (asking ? write.mutate({ method: "DELETE", path }) : setAsking(true))}
              >
                {asking ? "Yes, remove with all keys" : "Remove…"}
              </Button>
            ) : (
              <span />
            )}
            <Group gap="xs">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button type="submit" loading={write.isPending}>
                {edited ? "Save" : "Make the user"}
              </Button>
            </Group>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

export function PrivilegeBoxes(props: {
  readonly privileges: ConsolePeople["privileges"];
  readonly held: readonly string[];
  readonly onChange: (held: readonly string[]) => void;
}) {
  return (
    <Checkbox.Group label="May" value={[...props.held]} onChange={props.onChange}>
      <div className="boxes">
        {props.privileges.map(({ id, name }) => (
          <Checkbox key={id} value={id} label={id} description={name} />
        ))}
      </div>
    </Checkbox.Group>
  );
}
