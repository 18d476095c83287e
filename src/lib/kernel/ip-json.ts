/**
 * Parses the JSON that `ip` prints. `ip` writes most control characters in the name or alias of an interface as they
 * are, and some releases write a backslash before an apostrophe. JSON allows neither.
 */
export function parseIpJson(printed: string): unknown {
  return JSON.parse(printed.replaceAll(/\\["\\/bfnrtu]|\\|[^\P{Cc}\t\n\r]/gu, corrected));
}

function corrected(escape: string): string {
  if (escape.length === 2) return escape;
  return escape === "\\" ? "" : `\\u${escape.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
