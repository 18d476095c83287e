/**
 * The first key that one object of a JSON text has twice; undefined when there is none. `JSON.parse` keeps the last of them
 * without a word, another reader may keep the first. The text must be one that `JSON.parse` takes.
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

/** A string with the colon that makes it a key, or the begin or end of an object. */
const tokens = /("[^"\\]*(?:\\.[^"\\]*)*")\s*(:)?|[{}]/g;
