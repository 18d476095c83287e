import type { HttpOutcome } from "../../../lib/http-client/client.ts";
import {
  type ApiDialect,
  type JsonBody,
  readAnswer,
  type ServiceAnswer,
} from "../../../providers/answers/service-answer.ts";
import type { Lookup } from "../../../providers/answers/service-fault.ts";
import { isOwnError, readWritten, type WriteAnswer } from "../../../providers/answers/write-answer.ts";
import type { TargetFault } from "../target.ts";

/** Sends one request with what `open` returned. */
type Request<S> = (session: S) => Promise<HttpOutcome>;

/** Calls of a service that needs something first which holds for a while only: a session, or its time. */
export type SessionCalls<S> = {
  ask(request: Request<S>, signal: AbortSignal): Promise<ServiceAnswer<JsonBody>>;
  write(request: Request<S>, statuses: readonly number[], signal: AbortSignal): Promise<WriteAnswer<JsonBody>>;
};

/**
 * A service does not say when a session ends. So if it denies access, a new session is opened and the request is sent
 * once more, within the same try: only what the service denies twice is worth a message.
 */
export function keepSession<S>(
  dialect: ApiDialect,
  open: (signal: AbortSignal) => Promise<Lookup<S>>,
  now: () => number = Date.now,
): SessionCalls<S> {
  /** Shared by requests that run in parallel. */
  let current: Promise<Lookup<S>> | undefined;

  const sendOnce = async (request: Request<S>, signal: AbortSignal): Promise<HttpOutcome | TargetFault> => {
    current ??= open(signal);
    const used = current;
    const opened = await used;
    const result = opened.kind === "found" ? await request(opened.value) : opened;
    if ((!isOutcome(result) || isDenied(result)) && current === used) current = undefined;
    return result;
  };
  const send = async (request: Request<S>, signal: AbortSignal): Promise<HttpOutcome | TargetFault> => {
    const first = await sendOnce(request, signal);
    return isDenied(first) ? sendOnce(request, signal) : first;
  };
  /** In the service's own words, so the request was not carried out. */
  const isDenied = (outcome: HttpOutcome | TargetFault): boolean =>
    isOutcome(outcome) &&
    isOwnError(outcome, dialect) &&
    readAnswer(outcome, [200], now(), dialect).kind === "unauthorised";

  return {
    async ask(request, signal) {
      const outcome = await send(request, signal);
      return isOutcome(outcome) ? readAnswer(outcome, [200], now(), dialect) : outcome;
    },
    async write(request, statuses, signal) {
      const outcome = await send(request, signal);
      return isOutcome(outcome)
        ? readWritten(outcome, statuses, now(), dialect)
        : { kind: "refused", because: outcome };
    },
  };
}

const isOutcome = (result: HttpOutcome | TargetFault): result is HttpOutcome =>
  result.kind === "answer" || result.kind === "failed";
