import type { Spot, YamlReader } from "./yaml-reader.ts";

/** One word of a few. */
export function readChoice<T extends string>(
  yaml: YamlReader,
  at: Spot,
  what: string,
  known: readonly T[],
): T | undefined {
  const text = yaml.text(at, what);
  if (text === undefined) return undefined;
  const found = known.find((word) => word === text);
  if (found !== undefined) return found;
  const todo = `write ${known.join(" or ")}`;
  return yaml.fault(at, { code: "unknown-choice", message: `${what} cannot be "${text}"`, todo });
}
