import type { QueryClient } from "@tanstack/react-query";

/** The query key of the session. */
export const sessionKey = ["session"] as const;

/** The next user must not see what the previous one has read. */
export const forgetTheRest = (queries: QueryClient): void =>
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] });
