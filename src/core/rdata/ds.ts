import type { TypeDefinition } from "./field.ts";
import { algorithm } from "./field-algorithm.ts";
import { hexToEnd } from "./field-hex.ts";
import { u8, u16 } from "./field-number.ts";

/** RFC 4034 section 5. */
export const ds = {
  code: 43,
  fields: [
    { name: "keyTag", kind: u16 },
    { name: "algorithm", kind: algorithm },
    { name: "digestType", kind: u8 },
    { name: "digest", kind: hexToEnd },
  ],
  check({ digestType, digest }) {
    const length = digestLengths[Number(digestType)];
    const given = String(digest).length;
    return length === undefined || length === given
      ? undefined
      : `a digest of type ${String(digestType)} has ${length} bytes, this one has ${given}`;
  },
  todo:
    "a DS record takes key tag, algorithm, digest type and digest, such as " +
    "60485 5 1 2bb183af5f22588179a53b0a98631fad1a292118",
} satisfies TypeDefinition;

/** SHA-1, SHA-256, GOST R 34.11-94 and SHA-384. */
const digestLengths: Readonly<Record<number, number>> = { 1: 20, 2: 32, 3: 32, 4: 48 };
