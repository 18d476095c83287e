import { isObject } from "../../core/is-object.ts";
import type { HttpOutcome } from "../../lib/http-client/client.ts";
import {
  type Absent,
  type ApiDialect,
  type JsonBody,
  later,
  openStatuses,
  parsed,
  readAnswer,
  unexpected,
  unknownCall,
} from "./service-answer.ts";
import type { ServiceFault } from "./service-fault.ts";

/**
 * The result of one write request. Only an error in the API's own format means that nothing was stored. After anything
 * else that is not a plain success (a proxy's page, a redirect, a timeout, a lost answer), the content of the record is
 * unknown.
 */
export type WriteAnswer<T> =
  | { readonly kind: "accepted"; readonly value: T }
  | { readonly kind: "refused"; readonly because: ServiceFault | Absent }
  | Unknown;

export type Unknown = {
  readonly kind: "unknown";
  readonly fault: ServiceFault;
  /** The status was in the 2xx class: the write was probably carried out, and reading the record settles it. */
  readonly probablyDone: boolean;
};

export type WriteShape<T> = {
  /** The statuses of a plain success. */
  readonly statuses: readonly number[];
  /** The key of the content in a successful answer. */
  readonly key: string;
  readonly isItem: (value: unknown) => value is T;
  /** Whether this body is an error in the API's own format. */
  readonly isError: (body: JsonBody, status: number) => boolean;
};

export function readWriteAnswer<T>(
  outcome: HttpOutcome,
  shape: WriteShape<T>,
  now: number,
  dialect?: ApiDialect,
): WriteAnswer<T> {
  const { statuses, key, isItem } = shape;
  const answer = readAnswer(outcome, statuses, now, dialect);
  if (answer.kind === "ok") {
    const item = answer.value[key];
    return isItem(item) ? { kind: "accepted", value: item } : unknown(unexpected(`no ${key}`, dialect?.service), true);
  }
  if (isPlainRefusal(outcome, shape)) return { kind: "refused", because: answer };
  return unknown(
    faultAfter(outcome, answer, dialect?.service),
    outcome.kind === "answer" && outcome.status >= 200 && outcome.status < 300,
  );
}

/** What is refused after a resend may only be the repetition of what was carried out. */
function faultAfter(outcome: HttpOutcome, answer: ServiceFault | Absent, service?: string): ServiceFault {
  const fault = answer.kind === "absent" ? unknownCall(answer, service) : answer;
  const isRepeated = outcome.kind === "answer" && outcome.resent && fault.kind === "refused";
  return isRepeated ? later(`the request was sent twice, and ${fault.because}`) : fault;
}

/** For a service whose answer does not contain the record: it has to be read. */
export const withoutContent = (written: WriteAnswer<unknown>): WriteAnswer<undefined> =>
  written.kind === "accepted" ? { kind: "accepted", value: undefined } : written;

/** What an answer repeats of a request is no proof that it is stored: the sets have to be read. */
export const withoutSets = (written: WriteAnswer<unknown>): WriteAnswer<readonly undefined[]> =>
  written.kind === "accepted" ? { kind: "accepted", value: [] } : written;

/** Like `readWriteAnswer`, for services with a dialect: the whole body is the content. */
export function readWritten(
  outcome: HttpOutcome,
  statuses: readonly number[],
  now: number,
  dialect: ApiDialect,
): WriteAnswer<JsonBody> {
  const answer = readAnswer(outcome, statuses, now, dialect);
  if (answer.kind === "ok") return { kind: "accepted", value: answer.value };
  if (isOwnError(outcome, dialect)) return { kind: "refused", because: answer };
  return unknown(
    faultAfter(outcome, answer, dialect.service),
    outcome.kind === "answer" && outcome.status >= 200 && outcome.status < 300,
  );
}

/** Whether it is an error in the service's own format: then nothing was stored. */
export function isOwnError(outcome: HttpOutcome, { parse, errorIn }: ApiDialect): boolean {
  if (outcome.kind === "failed" || outcome.resent) return false;
  const { status, message } = errorIn(outcome.status, parse(outcome.body));
  return status >= 400 && status < 500 && !openStatuses.includes(status) && message !== "";
}

export const unknown = (fault: ServiceFault, probablyDone = false): Unknown => ({
  kind: "unknown",
  fault,
  probablyDone,
});

function isPlainRefusal<T>(outcome: HttpOutcome, { key, isError }: WriteShape<T>): boolean {
  // After a resend, the first request may have been carried out, whatever the answer to the second is.
  if (outcome.kind === "failed" || outcome.resent) return false;
  const { status } = outcome;
  const body = parsed(outcome.body);
  if (status < 400 || status >= 500 || openStatuses.includes(status) || !body) return false;
  const item = body[key];
  // The original v1 service sends an empty record with its errors. A record with an id would be an error and a success
  // in one.
  return isError(body, status) && !(isObject(item) && item.id);
}
