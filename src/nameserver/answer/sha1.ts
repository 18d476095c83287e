import { hash } from "node:crypto";
import type { Sha1 } from "../../core/records/nsec3-hash.ts";

/**
 * Names are nearly always ASCII; then no buffer is needed, which would take three times as long. The result is text for the same reason.
 */
export const sha1: Sha1 = (bytes) => hash("sha1", isAscii.test(bytes) ? bytes : Buffer.from(bytes, "latin1"), "binary");

const isAscii = /^[\0-\x7f]*$/;
