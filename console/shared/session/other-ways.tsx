import { Button, Divider, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { Problem } from "../live/problem.tsx";
import { createRequest } from "../live/request.ts";
import { useWays } from "../services.tsx";
import { noPasskeysBecause, signWithPasskey } from "./passkey-browser.ts";
import { comeBack, leaveFor, type ProviderReturn } from "./provider-return.ts";

const ask = createRequest(undefined, () => undefined);

type Other = {
  /** Whether the form for a password stands above. */
  readonly isSecond: boolean;
  /** Called when there is a session. */
  readonly onEntered: () => Promise<void>;
};

/** Ways to sign in besides the password. */
export function OtherWays({ isSecond, onEntered }: Other) {
  const { provider, passkeys } = useWays();
  const mayUsePasskeys = passkeys && noPasskeysBecause() === undefined;
  const leave = useMutation({
    mutationFn: () => ask<{ readonly url: string }>("POST", "/console/oidc/begin", {}),
    onSuccess: ({ url }) => leaveFor(url),
  });
  const byPasskey = useMutation({
    mutationFn: async () => {
      const options = await ask<Record<string, unknown>>("POST", "/console/passkey/begin", {});
      await ask("POST", "/console/passkey/finish", { credential: await signWithPasskey(options) });
    },
    onSuccess: onEntered,
  });
  if (provider === undefined && !mayUsePasskeys) return null;
  return (
    <Stack gap="sm">
      {isSecond && <Divider label="or" />}
      {provider !== undefined && (
        <Button variant="default" onClick={() => leave.mutate()} loading={leave.isPending || leave.isSuccess}>
          Sign in with {provider}
        </Button>
      )}
      {mayUsePasskeys && (
        <Button variant="default" onClick={() => byPasskey.mutate()} loading={byPasskey.isPending}>
          Sign in with a passkey
        </Button>
      )}
      <Problem error={leave.error ?? byPasskey.error} />
    </Stack>
  );
}

/** The provider has sent the browser back: the service asks it who this is. */
export function ByProvider(props: { readonly back: ProviderReturn; readonly onEntered: () => Promise<void> }) {
  const { back, onEntered } = props;
  const { provider = "the identity provider" } = useWays();
  const finish = useMutation({
    mutationFn: () => ask("POST", "/console/oidc/finish", { query: back.query }),
    onSuccess: async () => {
      await onEntered();
      comeBack();
      back.putAway();
    },
  });
  const isSent = useRef(false);
  useEffect(() => {
    if (isSent.current) return;
    isSent.current = true;
    finish.mutate();
  }, [finish]);
  return (
    <>
      {finish.error === null ? (
        <Text size="sm" role="status">
          Signing in with {provider} …
        </Text>
      ) : (
        <>
          <Problem error={finish.error} />
          <Button onClick={back.putAway}>Back to the sign-in</Button>
        </>
      )}
    </>
  );
}
