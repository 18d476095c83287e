/**
 * The first key that appears twice in one object of a JSON text; undefined when there is none. `JSON.parse` silently
 * keeps the last value, other parsers may keep the first. The text must be valid JSON.
 */
export function repeatedKey(json: string): string | undefined {
  const objects: Set<string>[] = [];
  for (const [token, text, colon] of json.matchAll(tokens)) {
    if (token === "{") objects.push(new Set());
    else if (token === "}") objects.pop();
    else if (text !== undefined && colon !== undefined) {
      const key = text.includes("\\") ? (JSON.parse(text) as string) : text.slice(1, -1);
      const keys = objects.at(-1);
      if (keys?.has(key)) return key;
      keys?.add(key);
    }
  }
  return undefined;
}

/** A string with the colon that makes it a key, or the start or end of an object. */
const tokens = /("[^"\\]*(?:\\.[^"\\]*)*")\s*(:)?|[{}]/g;
