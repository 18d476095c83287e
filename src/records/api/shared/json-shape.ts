/**
 * Limits far above any request of ours. Within them, 1 MiB of JSON is parsed in some 20 ms; without them, in up to 400
 * ms.
 */
const limits = { depth: 32, objectsAndLists: 60_000, differentKeys: 1_000 };

const [quote, backslash, colon, openObject, openList, closeObject, closeList] = Buffer.from('"\\:{[}]');

/**
 * Why a body of this JSON would take too long to parse, judged without parsing it; undefined if it would not. Nobody
 * else's request is answered during `JSON.parse`, which is slow for deep nesting, for very many objects, and for
 * objects that have no keys in common.
 */
export function slowToParse(json: Uint8Array): string | undefined {
  const keys = new Set<number>();
  let [depth, opened, key, at] = [0, 0, 0, 0];
  while (at < json.length) {
    const byte = json[at++];
    if (byte === quote) {
      const end = endOfText(json, at);
      key = hashOf(json, at, end);
      at = end + 1;
    } else if (byte === colon) {
      keys.add(key);
      if (keys.size > limits.differentKeys) return `has more than ${limits.differentKeys} different keys`;
    } else if (byte === openObject || byte === openList) {
      depth += 1;
      opened += 1;
      if (depth > limits.depth) return `is nested more than ${limits.depth} levels deep`;
      if (opened > limits.objectsAndLists) return `has more than ${limits.objectsAndLists} objects and lists`;
    } else if (byte === closeObject || byte === closeList) depth -= 1;
  }
  return undefined;
}

/** The position of the closing quote. */
function endOfText(json: Uint8Array, from: number): number {
  const near = Math.min(json.length, from + 64);
  let at = from;
  for (; at < near; at++) {
    if (json[at] === quote) return at;
    if (json[at] === backslash) at += 1;
  }
  // A long text, such as a zone file: searching is faster than looking at every byte.
  for (;;) {
    const end = json.indexOf(quote ?? 0, at);
    if (end < 0) return json.length;
    let before = end;
    while (json[before - 1] === backslash && before > at) before -= 1;
    if ((end - before) % 2 === 0) return end;
    at = end + 1;
  }
}

/** Two keys with the same hash count as one, which does no harm. */
function hashOf(json: Uint8Array, from: number, end: number): number {
  let hash = end - from;
  for (let at = from; at < Math.min(end, from + 64); at++) hash = (Math.imul(hash, 31) + (json[at] ?? 0)) | 0;
  return hash;
}
