/** What is wrong with a name that somebody wishes for a token. Lists, logs and the history of zones show it. */
export function tokenNameFault(name: unknown): string | undefined {
  if (typeof name !== "string" || name.trim() === "" || name.length > 100)
    return "say in at most 100 characters what the token is for";
  if (/[\p{Control}\p{Surrogate}]/u.test(name)) return "leave out the control characters and what is no Unicode";
  return undefined;
}
