import { Button, Group, Skeleton, Stack, Text, TextInput, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { PasskeyEntry } from "../../../src/contract/console.ts";
import { ListTable } from "../list-table.tsx";
import { Problem } from "../live/problem.tsx";
import { usePassingError } from "../live/use-passing-error.ts";
import { Waiting } from "../live/waiting.tsx";
import { When } from "../time/when.tsx";
import { createPasskey, noPasskeysBecause } from "./passkey-browser.ts";
import { useSession } from "./session.tsx";

/** The passkeys of the user: list, add, remove. */
export function PasskeySection() {
  const { request } = useSession();
  const found = useQuery({
    queryKey: ["passkeys"],
    queryFn: () => request<{ readonly passkeys: readonly PasskeyEntry[] }>("GET", "/console/passkeys"),
  });
  return (
    <section aria-labelledby="passkeys">
      <Title order={2} id="passkeys" mb="xs">
        Passkeys
      </Title>
      <Stack gap="sm">
        <Text size="sm">Sign in with your phone, computer or security key, without a name and a password.</Text>
        <Problem error={found.error} retry={() => void found.refetch()} />
        {found.isPending && (
          <Waiting>
            <Skeleton h={40} />
          </Waiting>
        )}
        {found.data && found.data.passkeys.length > 0 && <PasskeyTable passkeys={found.data.passkeys} />}
        <AddPasskey />
      </Stack>
    </section>
  );
}

function PasskeyTable({ passkeys }: { readonly passkeys: readonly PasskeyEntry[] }) {
  const { request } = useSession();
  const queries = useQueryClient();
  const remove = usePassingError(
    useMutation({
      mutationFn: (id: string) => request("DELETE", `/console/passkeys/${id}`),
      onSuccess: () => queries.invalidateQueries(),
    }),
  );
  return (
    <>
      <Problem error={remove.error} />
      <ListTable heads={["Name", "For", "Added", "Last used"]} actions>
        {passkeys.map(({ id, name, site, created, used }) => (
          <tr key={id}>
            <td data-label="Name">{name}</td>
            <td data-label="For" className="mono">
              {site}
            </td>
            <td data-label="Added">
              <When at={created} />
            </td>
            <td data-label="Last used">{used === null ? "never" : <When at={used} />}</td>
            <td className="does">
              <Group justify="flex-end">
                <Button
                  size="compact-xs"
                  variant="default"
                  onClick={() => remove.mutate(id)}
                  disabled={remove.isPending}
                  aria-label={`Remove the passkey ${name}`}
                >
                  Remove
                </Button>
              </Group>
            </td>
          </tr>
        ))}
      </ListTable>
    </>
  );
}

function AddPasskey() {
  const { request } = useSession();
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const add = useMutation({
    mutationFn: async () => {
      const options = await request<Record<string, unknown>>("POST", "/console/passkeys/new", {});
      await request("POST", "/console/passkeys", { name, credential: await createPasskey(options) });
    },
    onSuccess: async () => {
      setName("");
      await queries.invalidateQueries();
    },
  });
  const because = noPasskeysBecause();
  if (because !== undefined)
    return (
      <Text size="sm" c="dimmed">
        {because}
      </Text>
    );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate();
      }}
    >
      <Stack gap="sm" maw="24rem">
        <TextInput
          label="Name of the new passkey"
          description="Where it is, so that you recognise it later."
          placeholder="Phone"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={60}
          required
          withAsterisk={false}
        />
        <Problem error={add.error} />
        {add.isSuccess && name === "" && (
          <p className="good" role="status" style={{ margin: 0 }}>
            Passkey added.
          </p>
        )}
        <div>
          <Button type="submit" variant="default" loading={add.isPending}>
            Add passkey
          </Button>
        </div>
      </Stack>
    </form>
  );
}
