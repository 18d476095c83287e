/**
 * The store cannot do it now, and may well do it soon: too much is waiting, or its database cannot be reached. Faces answer
 * 503 with `Retry-After`.
 */
export class StoreBusy extends Error {
  /** In seconds. */
  readonly retryAfter: number;

  constructor(message: string, options: ErrorOptions & { readonly retryAfter?: number } = {}) {
    super(message, options);
    this.retryAfter = options.retryAfter ?? 2;
  }
}
