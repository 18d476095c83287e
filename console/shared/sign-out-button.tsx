import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useSession } from "./session.tsx";
import { useLeave } from "./use-leave.ts";

export function SignOutButton() {
  const { request } = useSession();
  const leave = useLeave();
  const signOut = useMutation({ mutationFn: () => request("POST", "/console/sign-out"), onSettled: leave });
  return (
    <Button size="compact-sm" variant="subtle" color="gray" onClick={() => signOut.mutate()}>
      Sign out
    </Button>
  );
}
