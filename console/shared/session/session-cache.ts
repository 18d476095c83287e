import type { QueryClient } from "@tanstack/react-query";

export const sessionKey = ["session"] as const;

/** Data that does not depend on the user. */
const kept = new Set<unknown>([sessionKey[0], "services"]);

/** The next user must not see what the previous one has read. */
export const forgetTheRest = (queries: QueryClient): void =>
  queries.removeQueries({ predicate: ({ queryKey }) => !kept.has(queryKey[0]) });
