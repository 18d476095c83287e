import type { Fault } from "../../../core/result.ts";

/** A field of a request that cannot be read: `ttl` that `is too small`. */
export const badInput = (where: string, message: string): Fault => ({ code: "bad-input", where, message });
