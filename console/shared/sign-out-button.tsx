import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { useSession } from "./session.tsx";
import { forgetTheRest, sessionKey } from "./session-cache.ts";

export function SignOutButton() {
  const { request } = useSession();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const signOut = useMutation({
    mutationFn: () => request("POST", "/console/sign-out"),
    onSettled: async () => {
      navigate("/");
      await queries.resetQueries({ queryKey: sessionKey });
      forgetTheRest(queries);
    },
  });
  return (
    <Button size="compact-sm" variant="subtle" color="gray" onClick={() => signOut.mutate()}>
      Sign out
    </Button>
  );
}
