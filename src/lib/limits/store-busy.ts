/**
 * The store cannot do something now, but probably can soon: too many requests are waiting, or its database cannot be
 * reached. The HTTP APIs answer 503 with `Retry-After`.
 */
export class StoreBusy extends Error {
  /** In seconds. */
  readonly retryAfter: number;
  /** The cause was logged when it began; it is not logged again for every request. */
  readonly isLogged: boolean;
  /** It cannot write in the state that it is in, for example because its disk is full. */
  readonly isUnable: boolean;

  constructor(message: string, options: BusyOptions = {}) {
    super(message, options);
    this.retryAfter = options.retryAfter ?? 2;
    this.isLogged = options.isLogged ?? false;
    this.isUnable = options.isUnable ?? false;
  }
}

type BusyOptions = ErrorOptions & {
  readonly retryAfter?: number;
  readonly isLogged?: boolean;
  readonly isUnable?: boolean;
};
