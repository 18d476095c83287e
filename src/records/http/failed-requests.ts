import type { Instant } from "../../core/instant.ts";
import { StoreBusy } from "../../process/database/store-busy.ts";
import { createFewLines } from "../../process/few-lines.ts";
import type { Logger } from "../../process/log.ts";

export type FailedRequest = Error & { readonly statusCode?: number };

export type NoteFailure = (error: Error, request: string) => void;

/** For the log of one face: when the store can do nothing, all who ask meet the same. */
export function createFailureNotes(log: Logger, now: () => Instant): NoteFailure {
  const few = createFewLines(now, (count) => log.warn({ count }, "more requests could not be done then"));
  return (error, request) => {
    if (!(error instanceof StoreBusy)) log.error({ err: error, request }, "a request failed");
    else if (!error.isLogged) few(() => log.warn({ err: error, request }, "a request could not be done now"));
  };
}

/** What is told of a failure: only a store that is busy says more. */
export const failureText = (error: Error, request: string): string =>
  error instanceof StoreBusy ? error.message : `internal error, see the log of the service: ${request}`;
