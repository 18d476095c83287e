import { Button, Group, Title } from "@mantine/core";
import { useState } from "react";
import type { ConsoleKey, ConsoleUser, MadeKey } from "../../src/contract/console-firewall.ts";
import { withKey } from "../shared/keys/key-use.ts";
import { ListTable } from "../shared/list-table.tsx";
import { Loading } from "../shared/live/loading.tsx";
import { Problem } from "../shared/live/problem.tsx";
import { useSearchPart } from "../shared/search-part.ts";
import { SureButton } from "../shared/sure-button.tsx";
import { lastMoment } from "../shared/time/days.ts";
import { When } from "../shared/time/when.tsx";
import { toSecond } from "../shared/time/words-of-time.ts";
import { KeyMade } from "./key-made.tsx";
import { usePeople, usePeopleWrite } from "./people.ts";
import { UserForm } from "./user-form.tsx";

export default function UserPage() {
  const people = usePeople();
  const { query, set, open } = useSearchPart();
  const [made, setMade] = useState<MadeKey>();
  const edited = people.data?.users.find(({ name }) => name === query.get("edit"));
  return (
    <>
      <Group justify="space-between" mb="sm">
        <Title order={1}>Users</Title>
        <Button onClick={() => open({ new: "" })} disabled={people.data === undefined} {...withKey("n")}>
          New user
        </Button>
      </Group>
      <Loading of={people} height={160} />
      {people.data && (
        <ListTable heads={["User", "Privileges", "From", "State", "Keys"]}>
          {people.data.users.map((user) => (
            <OneUser key={user.name} user={user} onEdit={() => open({ edit: user.name })} onMade={setMade} />
          ))}
        </ListTable>
      )}
      {people.data && (query.has("new") || edited) && (
        <UserForm
          key={edited?.name ?? ""}
          edited={edited}
          people={people.data}
          onClose={() => set({ new: null, edit: null })}
          onMade={setMade}
        />
      )}
      {made && <KeyMade made={made} onClose={() => setMade(undefined)} />}
    </>
  );
}

function OneUser(props: {
  readonly user: ConsoleUser;
  readonly onEdit: () => void;
  readonly onMade: (made: MadeKey) => void;
}) {
  const { user, onEdit, onMade } = props;
  const add = usePeopleWrite<MadeKey>(onMade);
  return (
    <tr>
      <td data-label="User">
        <span>
          <button type="button" className="as-link" onClick={onEdit}>
            {user.name}
          </button>
          {user.fullName && <span className="quiet"> {user.fullName}</span>}
        </span>
      </td>
      <td data-label="Privileges">{user.privileges.join(", ") || "none"}</td>
      <td data-label="From" className="mono">
        {user.networks.join(" ") || "anywhere"}
      </td>
      <td data-label="State">{stateOf(user)}</td>
      <td data-label="Keys">
        <div>
          {user.keys.map((key) => (
            <OneKey key={key.id} shown={key} user={user.name} />
          ))}
          <Button
            size="compact-xs"
            variant="default"
            loading={add.isPending}
            onClick={() => add.mutate({ method: "POST", path: `users/${encodeURIComponent(user.name)}/keys` })}
            aria-label={`New key for ${user.name}`}
          >
            New key
          </Button>
          <Problem error={add.error} />
        </div>
      </td>
    </tr>
  );
}

function OneKey({ shown, user }: { readonly shown: ConsoleKey; readonly user: string }) {
  const { id, beginning, created, lastUsed } = shown;
  const revoke = usePeopleWrite(() => undefined);
  return (
    <Group gap="xs" mb={4}>
      <span className="mono">{beginning}…</span>
      <span className="quiet" style={{ fontSize: "0.8125rem" }} title={`created ${toSecond(Date.parse(created))}`}>
        {lastUsed === null ? (
          <>
            created <When at={created} />, never used
          </>
        ) : (
          <>
            last used <When at={lastUsed} />
          </>
        )}
      </span>
      <SureButton
        size="compact-xs"
        ask="Revoke…"
        sure="Yes, revoke it"
        what={`the key ${beginning}… of ${user}`}
        loading={revoke.isPending}
        onSure={() => revoke.mutate({ method: "DELETE", path: `keys/${id}` })}
      />
      <Problem error={revoke.error} />
    </Group>
  );
}

function stateOf({ disabled, expires, hasPassword }: ConsoleUser): string {
  if (disabled) return "disabled";
  const end =
    expires === null ? "" : `, until ${lastMoment(expires).toLocaleDateString("en-GB", { dateStyle: "medium" })}`;
  const isExpired = expires !== null && Date.parse(expires) <= Date.now();
  return isExpired ? "expired" : `${hasPassword ? "can sign in" : "no password"}${end}`;
}
