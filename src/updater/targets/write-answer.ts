import { isObject } from "../../core/is-object.ts";
import type { HttpOutcome } from "../http/client.ts";
import { type Absent, type Body, openStatuses, parsed, readAnswer, unexpected, unknownCall } from "./service-answer.ts";
import type { TargetFault } from "./target.ts";

/**
 * What one write request came to. Only the API's own error says that nothing was stored. Whatever else is not a plain success
 * (a proxy's page, a redirect, a timeout, a lost answer) leaves open what the record holds.
 */
export type WriteAnswer<T> =
  | { readonly kind: "accepted"; readonly value: T }
  | { readonly kind: "refused"; readonly because: TargetFault | Absent }
  | Unknown;

export type Unknown = {
  readonly kind: "unknown";
  readonly fault: TargetFault;
  /** The status was in the 2xx class: the write was probably carried out, and reading the record settles it. */
  readonly probablyDone: boolean;
};

export type WriteShape<T> = {
  /** The statuses of a plain success. */
  readonly statuses: readonly number[];
  /** Where the content of a success is. */
  readonly key: string;
  readonly isItem: (value: unknown) => value is T;
  /** Whether this body is an error in the API's own shape. */
  readonly isError: (body: Body, status: number) => boolean;
};

export function readWriteAnswer<T>(outcome: HttpOutcome, shape: WriteShape<T>, now: number): WriteAnswer<T> {
  const { statuses, key, isItem } = shape;
  const answer = readAnswer(outcome, statuses, now);
  if (answer.kind === "ok") {
    const item = answer.value[key];
    return isItem(item) ? { kind: "accepted", value: item } : unknown(unexpected(`no ${key}`), true);
  }
  if (isPlainRefusal(outcome, shape)) return { kind: "refused", because: answer };
  const fault = answer.kind === "absent" ? unknownCall(answer) : answer;
  return unknown(fault, outcome.kind === "answer" && outcome.status >= 200 && outcome.status < 300);
}

export const unknown = (fault: TargetFault, probablyDone = false): Unknown => ({
  kind: "unknown",
  fault,
  probablyDone,
});

function isPlainRefusal<T>(outcome: HttpOutcome, { key, isError }: WriteShape<T>): boolean {
  // The first of two requests may have been carried out, whatever the second is answered.
  if (outcome.kind === "failed" || outcome.resent) return false;
  const { status } = outcome;
  const body = parsed(outcome.body);
  if (status < 400 || status >= 500 || openStatuses.includes(status) || !body) return false;
  const item = body[key];
  // The v1 original puts an empty record beside its errors. One with an id would be error and success in one.
  return isError(body, status) && !(isObject(item) && item.id);
}
