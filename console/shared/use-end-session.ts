import { useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { forgetTheRest, sessionKey } from "./session/session-cache.ts";

/** Drops everything that belongs to the user. `from`: what they signed out of, for the sign-in page. */
export function useEndSession(): (from?: string) => Promise<void> {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  return async (from) => {
    navigate("/", from === undefined ? {} : { state: { signedOutOf: from } });
    await queries.resetQueries({ queryKey: sessionKey });
    forgetTheRest(queries);
  };
}
