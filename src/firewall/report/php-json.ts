/**
 * JSON text as PHP's `json_encode` writes it: compact, `/` as `\/`, everything outside ASCII as `\uXXXX`. JSON has
 * neither outside of strings, so both can be replaced in the finished text. A map keeps its order whatever its keys
 * are, and an empty one is `[]`: PHP has only one kind of array.
 */
export function phpJson(value: ReadonlyMap<string, unknown> | object): string {
  const text = value instanceof Map ? mapText(value) : JSON.stringify(value);
  return text.replaceAll("/", "\\/").replace(/[\u0080-\uffff]/g, escaped);
}

function mapText(map: ReadonlyMap<string, unknown>): string {
  if (map.size === 0) return "[]";
  return `{${Array.from(map, ([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(",")}}`;
}

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
