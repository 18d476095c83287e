import { parseTarget } from "../names/name.ts";
import type { TextToken } from "../rdata/fields/tokens.ts";
import type { Steps } from "../steps.ts";
import { isDirective, maximumLength, readEntries } from "./entries.ts";
import { readHead } from "./head.ts";

/** Finds the zone that a file is for: the owner of its SOA record, or else its last origin. */
export function* findingZoneName(text: string): Steps<string | undefined> {
  if (text.length > maximumLength) return undefined;
  let origin: string | undefined;
  let owner: string | undefined;
  for (const entry of readEntries(text)) {
    yield;
    const [first, second] = entry?.tokens ?? [];
    if (entry === undefined || first === undefined) continue;
    const { tokens, indented } = entry;
    if (isDirective(first, "$ORIGIN")) {
      origin = absolute(second, origin ?? "") ?? origin;
    } else if (!isDirective(first)) {
      if (!indented) owner = absolute(first, origin);
      const head = readHead(tokens, indented ? 0 : 1, "");
      if (head.ok && head.value.type === "SOA") return owner;
    }
  }
  return origin;
}

/** Without an origin, only a name with a trailing dot is absolute. */
function absolute(token: TextToken | undefined, origin: string | undefined): string | undefined {
  if (token === undefined || token.quoted || (origin === undefined && !token.raw.endsWith("."))) return undefined;
  const name = parseTarget(token.raw, origin ?? "");
  return name.ok ? name.value.slice(0, -1) : undefined;
}
