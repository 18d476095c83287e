import type { Instant } from "../../../core/instant.ts";
import { StoreBusy } from "../../../lib/limits/store-busy.ts";
import { createLineLimit, type Logger } from "../../../process/log.ts";

export type FailedRequest = Error & { readonly statusCode?: number };

export type NoteFailure = (error: Error, request: string) => void;

/**
 * Logs the failures of one API. Lines about a busy store are limited, because every request fails in the same way
 * then.
 */
export function createFailureNotes(log: Logger, now: () => Instant): NoteFailure {
  const few = createLineLimit(now, (count) => log.warn({ count }, "more requests failed because the store was busy"));
  return (error, request) => {
    if (!(error instanceof StoreBusy)) log.error({ err: error, request }, "a request failed");
    else if (!error.isLogged)
      few(() => log.warn({ err: error, request }, "a request failed because the store is busy"));
  };
}

/** What the client learns about a failure: details only if the store is busy. */
export const failureText = (error: Error, request: string): string =>
  error instanceof StoreBusy ? error.message : `internal error; look for request ${request} in the service log`;
