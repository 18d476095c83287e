import { repeatedKey } from "../../../core/repeated-key.ts";
import type { HttpOutcome } from "../../../lib/http-client/client.ts";
import { type SourceReading, unavailable } from "../source.ts";

/** The messages for HTTP statuses. */
export type StatusWords = Readonly<Record<number, readonly [because: string, todo: string]>>;

type Unavailable = Extract<SourceReading, { readonly kind: "unavailable" }>;

/** The JSON in the answer of a router; otherwise why there is none. `router`: what messages call it. */
export function readJson(
  outcome: HttpOutcome,
  router: string,
  words: StatusWords,
): { readonly kind: "json"; readonly value: unknown } | Unavailable {
  if (outcome.kind === "failed") return outcomeOf(outcome.because, outcome.todo);
  const { status, body } = outcome;
  const statusWords = words[status];
  if (statusWords) return outcomeOf(...statusWords);
  if (status !== 200) return outcomeOf(`${router} answered ${status}`, "see its log");
  if (/^\s*</.test(body)) return outcomeOf(`${router} answered with a web page instead of data`, "correct the URL");
  try {
    const value: unknown = JSON.parse(body);
    if (repeatedKey(body) === undefined) return { kind: "json", value };
    return outcomeOf(`the answer of ${router} has a key twice in one object`, "update it");
  } catch {
    return outcomeOf(`the answer of ${router} is not JSON, or was cut off`, "correct the URL");
  }
}

const outcomeOf = (because: string, todo: string) => unavailable(because, todo) as Unavailable;
