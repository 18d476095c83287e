import { useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { forgetTheRest, sessionKey } from "./session/session-cache.ts";

/** Behind somebody who has signed out here on purpose: nothing waits for them. */
export function useEndSession(): () => Promise<void> {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  return async () => {
    navigate("/");
    await queries.resetQueries({ queryKey: sessionKey });
    forgetTheRest(queries);
  };
}
