import { Button, Tooltip } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { memo } from "react";
import type { ServiceName } from "../../../src/contract/console.ts";
import { noAnswer, RequestProblem } from "../live/request.ts";
import { usePassingError } from "../live/use-passing-error.ts";
import { inWords, useSharing } from "../services.tsx";
import { useEndSession } from "../use-end-session.ts";
import { useSession } from "./session.tsx";

export const SignOutButton = memo(function SignOutButton({ service }: { readonly service: ServiceName }) {
  const sharing = useSharing();
  const { request } = useSession();
  const ends = inWords([service, ...sharing.map((other) => other.service)]);
  const endSession = useEndSession();
  const signOut = usePassingError(
    useMutation({
      mutationFn: () => request("POST", "/console/sign-out").catch(unlessOver),
      onSuccess: () => endSession(ends),
    }),
  );
  return (
    <>
      <Tooltip label={`Signs this browser out of ${ends}`}>
        <Button
          size="compact-sm"
          variant="subtle"
          color="gray"
          onClick={() => signOut.mutate()}
          loading={signOut.isPending}
        >
          Sign out
        </Button>
      </Tooltip>
      {signOut.error && (
        <p className="note slow" role="alert">
          You may still be signed in: {signOut.error.message}
        </p>
      )}
    </>
  );
});

/**
 * A session that has already ended needs no sign-out. No data was sent, so the message must not ask the user to check
 * it.
 */
function unlessOver(error: unknown): void {
  const status = error instanceof RequestProblem ? error.status : undefined;
  if (status === 0) throw new RequestProblem(0, noAnswer("POST", false));
  if (status !== 401) throw error;
}
