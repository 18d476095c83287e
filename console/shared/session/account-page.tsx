import { Button, Group, PasswordInput, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ServiceName, SessionEntry } from "../../../src/contract/console.ts";
import { ListTable } from "../list-table.tsx";
import { Problem } from "../live/problem.tsx";
import { usePassingError } from "../live/use-passing-error.ts";
import { Waiting } from "../live/waiting.tsx";
import { inWords, useSharing, useWays } from "../services.tsx";
import { When } from "../time/when.tsx";
import { useEndSession } from "../use-end-session.ts";
import { PasskeySection } from "./passkey-section.tsx";
import { useSession } from "./session.tsx";

export default function AccountPage({
  service,
  nameLabel,
}: {
  readonly service: ServiceName;
  /** Undefined if there is only one user. */
  readonly nameLabel?: string;
}) {
  const sharing = useSharing();
  const { session } = useSession();
  const { passkeys } = useWays();
  return (
    <Stack gap="xl">
      <div>
        <Title order={1}>Account</Title>
        {nameLabel !== undefined && (
          <Text size="sm" c="dimmed">
            {nameLabel}: <b>{session.name}</b>
          </Text>
        )}
      </div>
      {session.provider !== undefined && (
        <Text size="sm">
          You signed in with {session.provider}, which decides how long you may stay: moor asks it every few minutes.
        </Text>
      )}
      {session.provider === undefined && service !== "updater" && <PasswordSection />}
      {session.provider === undefined && passkeys && <PasskeySection />}
      <section aria-labelledby="sessions">
        <Title order={2} id="sessions" mb="xs">
          Sessions
        </Title>
        {sharing.length > 0 && (
          <Text size="sm" mb="xs">
            The owner (the DNS account main, the firewall&apos;s user root) signs in once for{" "}
            {inWords([service, ...sharing.map((other) => other.service)])}: a session at one of them counts at all of
            them.
          </Text>
        )}
        <SessionList />
      </section>
    </Stack>
  );
}

function PasswordSection() {
  const { session } = useSession();
  const [done, setDone] = useState(false);
  return (
    <section aria-labelledby="password">
      <Title order={2} id="password" mb="xs">
        {session.hasPassword ? "Change password" : "Set a password"}
      </Title>
      <PasswordForm
        key={String(session.hasPassword)}
        hasPassword={session.hasPassword}
        name={session.name}
        onDone={() => setDone(true)}
      />
      {done && (
        <p className="good" role="status">
          Password set. All your other sessions were signed out.
        </p>
      )}
    </section>
  );
}

function PasswordForm(props: { readonly hasPassword: boolean; readonly name: string; readonly onDone: () => void }) {
  const { hasPassword, name, onDone } = props;
  const { request } = useSession();
  const queries = useQueryClient();
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const change = useMutation({
    mutationFn: () => request("PUT", "/console/password", { ...(hasPassword && { current }), next }),
    onSuccess: async () => {
      setCurrent("");
      setNext("");
      onDone();
      await queries.invalidateQueries();
    },
  });
  const toggle = { "aria-label": "Show the password", tabIndex: 0 };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate();
      }}
    >
      <Stack gap="sm" maw="24rem">
        <input type="hidden" autoComplete="username" value={name} readOnly />
        {hasPassword && (
          <PasswordInput
            label="Current password"
            value={current}
            onChange={(event) => setCurrent(event.currentTarget.value)}
            autoComplete="current-password"
            visibilityToggleButtonProps={toggle}
          />
        )}
        <PasswordInput
          label="New password"
          description="At least 12 characters; no common word, name or pattern. Saving it signs out all your other sessions."
          value={next}
          onChange={(event) => setNext(event.currentTarget.value)}
          autoComplete="new-password"
          minLength={12}
          visibilityToggleButtonProps={toggle}
        />
        <Problem error={change.error} />
        <div>
          <Button type="submit" loading={change.isPending}>
            {hasPassword ? "Change password" : "Set password"}
          </Button>
        </div>
      </Stack>
    </form>
  );
}

function SessionList() {
  const { request } = useSession();
  const queries = useQueryClient();
  const endSession = useEndSession();
  const found = useQuery({
    queryKey: ["sessions"],
    queryFn: () => request<{ readonly sessions: readonly SessionEntry[] }>("GET", "/console/sessions"),
  });
  const end = usePassingError(
    useMutation({
      mutationFn: ({ id }: SessionEntry) => request("DELETE", `/console/sessions/${id}`),
      onSuccess: (_answer, { current }) => (current ? endSession() : queries.invalidateQueries()),
    }),
  );
  return (
    <>
      <Problem error={found.error} retry={() => void found.refetch()} />
      <Problem error={end.error} />
      {found.isPending && (
        <Waiting>
          <Skeleton h={80} />
        </Waiting>
      )}
      {found.data && <SessionTable sessions={found.data.sessions} end={end} />}
    </>
  );
}

function SessionTable(props: {
  readonly sessions: readonly SessionEntry[];
  readonly end: { readonly mutate: (entry: SessionEntry) => void; readonly isPending: boolean };
}) {
  const { sessions, end } = props;
  return (
    <ListTable heads={["Browser", "From", "Since", "Last seen"]} actions>
      {sessions.map((entry) => {
        const { id, agent, from, created, seen, current } = entry;
        return (
          <tr key={id}>
            <td data-label="Browser">
              {browserOf(agent)}
              {current && " (this one)"}
            </td>
            <td data-label="From" className="mono">
              {from}
            </td>
            <td data-label="Since">
              <When at={created} />
            </td>
            <td data-label="Last seen">
              <When at={seen} />
            </td>
            <td className="does">
              <Group justify="flex-end">
                <Button
                  size="compact-xs"
                  variant="default"
                  onClick={() => end.mutate(entry)}
                  disabled={end.isPending}
                  aria-label={`Sign out ${browserOf(agent)} from ${from}`}
                >
                  Sign out
                </Button>
              </Group>
            </td>
          </tr>
        );
      })}
    </ListTable>
  );
}

/** The part of a user agent that users recognise. */
function browserOf(agent: string): string {
  const name = /(Firefox|Edg|OPR|Chrome|Safari)\/(\d+)/.exec(agent);
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|Linux|CrOS)/.exec(agent)?.[1];
  const browserNames = { Edg: "Edge", OPR: "Opera" } as Readonly<Record<string, string>>;
  if (name === null) return agent.slice(0, 40) || "unknown";
  return `${browserNames[name[1] ?? ""] ?? name[1]} ${name[2]}${system ? ` on ${system}` : ""}`;
}
