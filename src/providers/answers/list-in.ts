import { type JsonBody, noZone, type ServiceAnswer, unexpected, unknownCall } from "./service-answer.ts";
import type { Lookup } from "./service-fault.ts";

export type Expected<T> = {
  readonly service: string;
  /** Where the list is in the answer. */
  readonly key: string;
  /** For the message: `domains`. */
  readonly what: string;
  readonly isItem: (value: unknown) => value is T;
  /** The zone that the call names: if it is missing, the answer is 404. */
  readonly zone?: string;
};

/** The list in an answer. */
export function listIn<T>(
  answer: ServiceAnswer<JsonBody>,
  { service, key, what, isItem, zone }: Expected<T>,
): Lookup<readonly T[]> {
  const lookup = lookupIn(answer, service, zone);
  if (lookup.kind !== "found") return lookup;
  const list = lookup.value[key];
  if (!Array.isArray(list) || !list.every(isItem)) return unexpected(`no list of ${what}`, service);
  return { kind: "found", value: list };
}

/** What an answer has. `zone` is the one that the call names: if it is missing, the answer is 404. */
export function lookupIn<T>(answer: ServiceAnswer<T>, service: string, zone?: string): Lookup<T> {
  if (answer.kind === "ok") return { kind: "found", value: answer.value };
  if (answer.kind !== "absent") return answer;
  return zone === undefined ? unknownCall(answer, service) : noZone(zone, service);
}

/** What was found, as something else. */
export const mapFound = <T, U>(lookup: Lookup<T>, transform: (value: T) => U): Lookup<U> =>
  lookup.kind === "found" ? { kind: "found", value: transform(lookup.value) } : lookup;
