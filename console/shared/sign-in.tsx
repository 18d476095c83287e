import { Button, Code, Paper, PasswordInput, Stack, Text, TextInput, Title } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Problem } from "./problem.tsx";
import { createRequest } from "./request.ts";
import type { SignInWords } from "./session.tsx";

const ask = createRequest(undefined, () => undefined);

/** By name and password, or by a link from the terminal: its secret stands behind the `#`. */
export function SignIn({ words }: { readonly words: SignInWords }) {
  const link = useLinkFromAddress();
  return (
    <main className="main" style={{ maxWidth: "26rem", paddingTop: "8vh" }}>
      <Paper withBorder p="lg">
        <Stack gap="md">
          <Title order={1}>{words.title}</Title>
          {link === "" ? <ByPassword words={words} /> : <ByLink secret={link} words={words} />}
        </Stack>
      </Paper>
    </main>
  );
}

/** Taken out of the address bar at once, so that it is not copied or kept in the history. */
function useLinkFromAddress(): string {
  const [secret] = useState(() => (location.pathname === "/sign-in" ? location.hash.slice(1) : ""));
  useEffect(() => {
    if (secret !== "") history.replaceState(null, "", "/sign-in");
  }, [secret]);
  return secret;
}

function useEnter() {
  const queries = useQueryClient();
  return async () => {
    if (location.pathname === "/sign-in") history.replaceState(null, "", "/");
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== "session" });
    await queries.invalidateQueries({ queryKey: ["session"] });
  };
}

/** A button, and not by itself: programs that fetch links to look at them must not use it up. */
function ByLink({ secret, words }: { readonly secret: string; readonly words: SignInWords }) {
  const enter = useEnter();
  const [byPassword, setByPassword] = useState(false);
  const signIn = useMutation({
    mutationFn: () => ask("POST", "/console/sign-in-link", { link: secret }),
    onSuccess: enter,
  });
  if (byPassword) return <ByPassword words={words} />;
  return (
    <>
      <Text size="sm">You have a sign-in link from the terminal. It works once, within 15 minutes.</Text>
      {signIn.error && <Problem error={signIn.error} />}
      <Button onClick={() => signIn.mutate()} loading={signIn.isPending} autoFocus>
        Sign in with this link
      </Button>
      <Button variant="subtle" onClick={() => setByPassword(true)}>
        Use a password instead
      </Button>
    </>
  );
}

function ByPassword({ words }: { readonly words: SignInWords }) {
  const enter = useEnter();
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const signIn = useMutation({
    mutationFn: () => ask("POST", "/console/sign-in", { name, password }),
    onSuccess: enter,
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        signIn.mutate();
      }}
    >
      <Stack gap="sm">
        <TextInput
          label={words.nameLabel}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          autoComplete="username"
          autoCapitalize="none"
          required
          withAsterisk={false}
        />
        <PasswordInput
          label="Password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          autoComplete="current-password"
          required
          withAsterisk={false}
          visibilityToggleButtonProps={{ "aria-label": "Show the password", tabIndex: 0 }}
        />
        {signIn.error && <Problem error={signIn.error} />}
        <Button type="submit" loading={signIn.isPending}>
          Sign in
        </Button>
        <Text size="xs" c="dimmed">
          First time here, or password lost? Make a sign-in link in the terminal: <Code>{words.linkCommand}</Code>
        </Text>
      </Stack>
    </form>
  );
}
