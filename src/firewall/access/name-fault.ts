const nameRule = /^[A-Za-z0-9._@-]{1,64}$/;

/** What is wrong with a name that somebody wishes for a user or a group. */
export function nameFault(what: "user" | "group", name: unknown): string | undefined {
  if (typeof name === "string" && nameRule.test(name)) return undefined;
  return `A ${what}'s name has letters, digits and . _ @ - only, 64 of them at most.`;
}
