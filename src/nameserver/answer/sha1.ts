import { hash } from "node:crypto";
import type { Sha1 } from "../../core/records/nsec3-hash.ts";

/** As text, because a buffer would take three times as long. */
export const sha1: Sha1 = (data) => hash("sha1", data, "binary");
