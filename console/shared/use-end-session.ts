import { useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { forgetTheRest, sessionKey } from "./session/session-cache.ts";

/** After a deliberate sign-out nothing is kept for the user. */
export function useEndSession(): () => Promise<void> {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  return async () => {
    navigate("/");
    await queries.resetQueries({ queryKey: sessionKey });
    forgetTheRest(queries);
  };
}
