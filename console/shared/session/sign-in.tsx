import { Button, Code, Paper, PasswordInput, Stack, Text, TextInput, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useCallback, useContext, useState } from "react";
import { Problem } from "../live/problem.tsx";
import { createRequest } from "../live/request.ts";
import { sessionKey } from "./session-cache.ts";
import type { SignInLink } from "./sign-in-link.ts";
import { useStay, useWayBack, WayBackContext } from "./way-back.ts";

export type SignInWords = { readonly title: string; readonly nameLabel: string; readonly linkCommand: string };

const ask = createRequest(undefined, () => undefined);

type Props = {
  readonly words: SignInWords;
  readonly link: SignInLink;
  /** Whoever is signed in already and has come with a link. */
  readonly present?: string | undefined;
  /** Somebody was signed in here just now. */
  readonly kept: boolean;
};

/** By name and password, or by a link from the terminal: its secret stands behind the `#`. */
export function SignIn({ words, link, present, kept }: Props) {
  useDocumentTitle(words.title);
  return (
    <main className="main" style={{ maxWidth: "26rem", paddingTop: "8vh" }}>
      <Paper withBorder p="lg">
        <Stack gap="md">
          <Title order={1}>{words.title}</Title>
          {kept && present === undefined && <Kept />}
          {link.secret === "" ? (
            <ByPassword words={words} />
          ) : (
            <ByLink key={link.secret} link={link} present={present} />
          )}
        </Stack>
      </Paper>
    </main>
  );
}

/** What was typed is still there, unseen: leaving asks as it would beside it. */
function Kept() {
  const { isHeld } = useContext(WayBackContext);
  const [hasDraft] = useState(isHeld);
  const [asked, setAsked] = useState(false);
  const ask = useCallback(() => setAsked(true), []);
  useWayBack(hasDraft && !asked, ask);
  useStay(hasDraft);
  return (
    <>
      <p className="note" role="status" style={{ margin: 0 }}>
        You were signed out. Sign in again to go on where you were, with what you typed. A sign-in link may be opened in
        another tab: this one goes on by itself when you come back to it.
      </p>
      {asked && (
        <p className="note" role="alert" style={{ margin: 0 }}>
          What you typed is not saved yet. Go back once more to leave it.
        </p>
      )}
    </>
  );
}

function useEnter() {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: sessionKey });
}

/** A button, and not by itself: programs that fetch links to look at them must not use it up. */
function ByLink({ link, present }: Pick<Props, "link" | "present">) {
  const enter = useEnter();
  const signIn = useMutation({
    mutationFn: () => ask("POST", "/console/sign-in-link", { link: link.secret }),
    onSuccess: async () => {
      await enter();
      link.putAway();
    },
  });
  return (
    <>
      <Text size="sm">You have a sign-in link from the terminal. It works once, within 15 minutes.</Text>
      {signIn.error && <Problem error={signIn.error} />}
      <Button onClick={() => signIn.mutate()} loading={signIn.isPending} autoFocus>
        Sign in with this link
      </Button>
      <Button variant="subtle" onClick={link.putAway}>
        {present === undefined ? "Use a password instead" : `Go on as ${present}`}
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
