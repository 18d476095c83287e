import type { Fault } from "../../../core/result.ts";

/** An invalid field of a request: `ttl`, `is too small`. */
export const badInput = (where: string, message: string): Fault => ({ code: "bad-input", where, message });
