/** A JSON object: neither a list nor null. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Undefined when the text is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Undefined when the text is not a JSON object. */
export function objectOfJson(text: string): Readonly<Record<string, unknown>> | undefined {
  const read = jsonOf(text);
  return isObject(read) ? read : undefined;
}

/** The fields of a JSON object; none when the text is not an object, or not JSON. */
export const fieldsOfJson = (text: string): Readonly<Record<string, unknown>> => objectOfJson(text) ?? {};
