import { Button, Code, Paper, PasswordInput, Stack, Text, TextInput, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useCallback, useContext, useState } from "react";
import { useHistoryState } from "wouter/use-browser-location";
import { Problem } from "../live/problem.tsx";
import { createRequest } from "../live/request.ts";
import { ServiceLinks, useSharing, useSignInElsewhere } from "../services.tsx";
import { ByProvider, OtherWays } from "./other-ways.tsx";
import type { ProviderReturn } from "./provider-return.ts";
import { sessionKey } from "./session-cache.ts";
import type { SignInLink } from "./sign-in-link.ts";
import { useStay, useWayBack, WayBackContext } from "./way-back.ts";

export type SignInWords = {
  readonly title: string;
  /** Undefined if there is only one user, who needs no name. */
  readonly nameLabel?: string;
  /** What somebody without the password can do: the command that prints a link, or something else. */
  readonly linkCommand?: string;
  readonly help?: ReactNode;
};

const ask = createRequest(undefined, () => undefined);

type Props = {
  readonly words: SignInWords;
  readonly link: SignInLink;
  readonly back: ProviderReturn;
  /** The user who is already signed in and opened a link. */
  readonly present?: string | undefined;
  /** A user was signed in on this page until now. */
  readonly kept: boolean;
};

/**
 * By name and password, by a link from the terminal, which has the secret after the `#`, by a passkey, or at an
 * identity provider.
 */
export function SignIn({ words, link, back, present, kept }: Props) {
  useDocumentTitle(words.title);
  const enter = useEnter();
  const isElsewhere = useSignInElsewhere();
  return (
    <main className="main" style={{ maxWidth: "26rem", paddingTop: "8vh" }}>
      <Paper withBorder p="lg">
        <Stack gap="md">
          <Title order={1}>{words.title}</Title>
          {kept && present === undefined && <Kept />}
          {!kept && link.secret === "" && <SignedOut />}
          {back.query !== "" && <ByProvider back={back} onEntered={enter} />}
          {back.query === "" && link.secret !== "" && <ByLink key={link.secret} link={link} present={present} />}
          {back.query === "" && link.secret === "" && (
            <>
              {!isElsewhere && <ByPassword words={words} />}
              <OtherWays isSecond={!isElsewhere} onEntered={enter} />
            </>
          )}
          {present === undefined && back.query === "" && <OneSignIn only={isElsewhere} />}
        </Stack>
      </Paper>
    </main>
  );
}

/** After a sign-out. */
function SignedOut() {
  const { signedOutOf } = useHistoryState<{ signedOutOf?: string } | null>() ?? {};
  return (
    signedOutOf !== undefined && (
      <p className="good" role="status" style={{ margin: 0 }}>
        This browser is signed out of {signedOutOf}.
      </p>
    )
  );
}

function OneSignIn({ only }: { readonly only: boolean }) {
  const sharing = useSharing();
  if (sharing.length === 0) return null;
  const links = <ServiceLinks services={sharing} />;
  if (only) return <Text>Sign in at {links}; that signs you in here too.</Text>;
  return (
    <Text size="xs" c="dimmed">
      The owner (the DNS account main, the firewall&apos;s user root) needs only one sign-in: signing in at {links} is
      enough.
    </Text>
  );
}

/** What was typed is still there, hidden, so leaving the page warns as the form itself would. */
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
        You were signed out. Sign in again to continue; what you typed is still here. If you open a sign-in link in
        another tab, this page continues when you return to it.
      </p>
      {asked && (
        <p className="note" role="alert" style={{ margin: 0 }}>
          You have unsaved changes. Go back again to discard them.
        </p>
      )}
    </>
  );
}

function useEnter() {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: sessionKey });
}

/** Needs a click, because programs that preview links must not use the link up. */
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
      <Text size="sm">This is a sign-in link from the terminal. It works once, within 15 minutes.</Text>
      {signIn.error && <Problem error={signIn.error} />}
      <Button onClick={() => signIn.mutate()} loading={signIn.isPending} autoFocus>
        Sign in with this link
      </Button>
      <Button variant="subtle" onClick={link.putAway}>
        {present === undefined ? "Use a password instead" : `Continue as ${present}`}
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
        {words.nameLabel !== undefined && (
          <TextInput
            label={words.nameLabel}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            autoComplete="username"
            autoCapitalize="none"
            required
            withAsterisk={false}
          />
        )}
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
          {words.help ?? (
            <>
              First time here, or forgot your password? Create a sign-in link in the terminal:{" "}
              <Code>{words.linkCommand}</Code>
            </>
          )}
        </Text>
      </Stack>
    </form>
  );
}
