import type { QueryClient } from "@tanstack/react-query";

/** Under which the session stands among what was read. */
export const sessionKey = ["session"] as const;

/** What one person has read is not for the next. */
export const forgetTheRest = (queries: QueryClient): void =>
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] });
