import { useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { forgetTheRest, sessionKey } from "./session/session-cache.ts";

/** After a deliberate sign-out nothing is kept for the user. `from`: what it ended, for the sign-in page. */
export function useEndSession(): (from?: string) => Promise<void> {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  return async (from) => {
    navigate("/", from === undefined ? {} : { state: { signedOutOf: from } });
    await queries.resetQueries({ queryKey: sessionKey });
    forgetTheRest(queries);
  };
}
