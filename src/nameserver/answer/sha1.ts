import { hash } from "node:crypto";
import type { Sha1 } from "../../core/records/nsec3-hash.ts";

/** The result is text, because a buffer would take three times as long. */
export const sha1: Sha1 = (bytes) => hash("sha1", Buffer.from(bytes, "latin1"), "binary");
