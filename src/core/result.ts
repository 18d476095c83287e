/**
 * What is wrong with some input. `code` is stable and meant for programs, `where` is the place
 * in the input ("ttl", "records[2].value", "line 14"), `message` says what is wrong, `todo` what to do about it.
 */
export type Fault = {
  readonly code: string;
  readonly where: string;
  readonly message: string;
  readonly todo?: string | undefined;
};

export const faultInWords = ({ message, todo }: Fault): string =>
  todo === undefined ? message : `${message}; ${todo}`;

/** An expected outcome: the value, or all faults together. */
export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly faults: readonly Fault[] };

export const ok = <T>(value: T): Result<T> => ({ ok: true, value });

export const fail = (...faults: readonly Fault[]): Result<never> => ({ ok: false, faults });

/** For a whole zone's faults: more than can be passed as arguments on the stack. */
export const failAll = (faults: readonly Fault[]): Result<never> => ({ ok: false, faults });

/** An invalid field of a request: `ttl`, `is too small`. */
export const badInput = (where: string, message: string): Fault => ({ code: "bad-input", where, message });
