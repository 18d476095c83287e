import type { Instant } from "../core/instant.ts";
import { createFewLines } from "./few-lines.ts";
import type { Logger } from "./log.ts";

/**
 * The store cannot do it now, and may well do it soon: too much is waiting, or its database cannot be reached. Faces answer
 * 503 with `Retry-After`.
 */
export class StoreBusy extends Error {
  /** In seconds. */
  readonly retryAfter: number;
  /** What is behind it was logged when it began: not again for every request that meets it. */
  readonly isLogged: boolean;

  constructor(message: string, options: BusyOptions = {}) {
    super(message, options);
    this.retryAfter = options.retryAfter ?? 2;
    this.isLogged = options.isLogged ?? false;
  }
}

type BusyOptions = ErrorOptions & { readonly retryAfter?: number; readonly isLogged?: boolean };

export type NoteBusy = (error: StoreBusy, request: string) => void;

/** For the log of one face: when nothing can be done, all who ask meet the same. */
export function createBusyNotes(log: Logger, now: () => Instant): NoteBusy {
  const few = createFewLines(now, (count) => log.warn({ count }, "more requests could not be done then"));
  return (error, request) => {
    if (!error.isLogged) few(() => log.warn({ err: error, request }, "a request could not be done now"));
  };
}
