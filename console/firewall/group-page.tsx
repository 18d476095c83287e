import { Button, Group, Text, TextInput, Title } from "@mantine/core";
import { useState } from "react";
import type { ConsoleGroup, ConsolePeople } from "../../src/contract/console-firewall.ts";
import { MultiChoice } from "../shared/choice/multi-choice.tsx";
import { FormDialog } from "../shared/form-dialog.tsx";
import { ListTable } from "../shared/list-table.tsx";
import { Loading } from "../shared/live/loading.tsx";
import { useSearchPart } from "../shared/search-part.ts";
import { SureButton } from "../shared/sure-button.tsx";
import { atFields, changedParts, usePeople, usePeopleWrite } from "./people.ts";
import { NameInput, PrivilegeBoxes } from "./user-form.tsx";

export default function GroupPage() {
  const people = usePeople();
  const { query, set, open } = useSearchPart();
  const edited = people.data?.groups.find(({ name }) => name === query.get("edit"));
  return (
    <>
      <Group justify="space-between" mb="sm">
        <Title order={1}>Groups</Title>
        <Button onClick={() => open({ new: "" })} disabled={people.data === undefined} aria-keyshortcuts="n">
          New group
        </Button>
      </Group>
      <Loading of={people} height={120} />
      {people.data?.groups.length === 0 && (
        <Text>
          There are no groups yet. A group gives its members privileges, optionally only from certain networks.
        </Text>
      )}
      {people.data && people.data.groups.length > 0 && (
        <ListTable heads={["Group", "Privileges", "From", "Members"]}>
          {people.data.groups.map(({ name, privileges, networks, members }) => (
            <tr key={name}>
              <td data-label="Group">
                <button type="button" className="as-link" onClick={() => open({ edit: name })}>
                  {name}
                </button>
              </td>
              <td data-label="Privileges">{privileges.join(", ") || "none"}</td>
              <td data-label="From" className="mono">
                {networks.join(" ") || "anywhere"}
              </td>
              <td data-label="Members">{members.join(", ") || "nobody"}</td>
            </tr>
          ))}
        </ListTable>
      )}
      {people.data && (query.has("new") || edited) && (
        <GroupForm
          key={edited?.name ?? ""}
          edited={edited}
          people={people.data}
          onClose={() => set({ new: null, edit: null })}
        />
      )}
    </>
  );
}

function GroupForm(props: {
  readonly edited: ConsoleGroup | undefined;
  readonly people: ConsolePeople;
  readonly onClose: () => void;
}) {
  const { people, onClose } = props;
  const [edited] = useState(props.edited);
  const [name, setName] = useState(edited?.name ?? "");
  const [held, setHeld] = useState<readonly string[]>(edited?.privileges ?? ["interface-status"]);
  const [networks, setNetworks] = useState(edited?.networks.join(", ") ?? "");
  const [members, setMembers] = useState<readonly string[]>(edited?.members ?? []);
  const write = usePeopleWrite(onClose);
  const { sending, faultOf } = atFields(write, ["name", "privileges", "networks", "members"]);
  const path = `groups/${encodeURIComponent(name)}`;
  const from = networks.split(/[\s,]+/).filter((text) => text !== "");
  const wish = { name: name.trim(), privileges: held, members, networks: from };
  const save = () =>
    write.mutate(
      edited
        ? { method: "PUT", path, body: changedParts(edited, wish) }
        : { method: "POST", path: "groups", body: wish },
    );
  const remove = () => write.mutate({ method: "DELETE", path });
  return (
    <FormDialog
      title={edited ? edited.name : "New group"}
      holds={wish}
      onClose={onClose}
      onSubmit={save}
      submit={edited ? "Save" : "Create group"}
      sending={sending}
      other={edited && <RemoveButton loading={write.isPending} onSure={remove} />}
    >
      <NameInput name={name} onChange={setName} stays={edited !== undefined} fault={faultOf("name")} />
      <PrivilegeBoxes privileges={people.privileges} held={held} onChange={setHeld} fault={faultOf("privileges")} />
      <TextInput
        label="Only from these networks (empty: from anywhere)"
        placeholder="192.0.2.0/24, 2001:db8::/32"
        value={networks}
        error={faultOf("networks")}
        onChange={(event) => setNetworks(event.currentTarget.value)}
      />
      <MultiChoice
        label="Members"
        whenEmpty=""
        noun="user"
        options={people.users.map((user) => user.name)}
        chosen={members}
        error={faultOf("members")}
        onChange={setMembers}
      />
    </FormDialog>
  );
}

const RemoveButton = (props: { readonly loading: boolean; readonly onSure: () => void }) => (
  <SureButton ask="Remove…" sure="Yes, remove it" {...props} />
);
