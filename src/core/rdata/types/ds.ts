import { ok } from "../../result.ts";
import type { FieldKind, TypeDefinition } from "../fields/field.ts";
import { hexToEnd } from "../fields/hex.ts";
import { u8, u16 } from "../fields/number.ts";

/** The number of a DNSSEC algorithm; zone files may write its mnemonic (RFC 4034 section 5.3). */
export const algorithm: FieldKind<number> = {
  ...u8,
  parse(tokens, place) {
    const [token] = tokens;
    const number = token.quoted ? undefined : mnemonics.get(token.raw.toUpperCase());
    return number === undefined ? u8.parse(tokens, place) : ok(number);
  },
};

/** From IANA's registry of DNSSEC algorithm numbers. */
const mnemonics: ReadonlyMap<string, number> = new Map([
  ["RSAMD5", 1],
  ["DH", 2],
  ["DSA", 3],
  ["RSASHA1", 5],
  ["DSA-NSEC3-SHA1", 6],
  ["RSASHA1-NSEC3-SHA1", 7],
  ["RSASHA256", 8],
  ["RSASHA512", 10],
  ["ECC-GOST", 12],
  ["ECDSAP256SHA256", 13],
  ["ECDSAP384SHA384", 14],
  ["ED25519", 15],
  ["ED448", 16],
]);

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
    const digestLength = String(digest).length;
    return length === undefined || length === digestLength
      ? undefined
      : `a digest of type ${String(digestType)} has ${length} bytes, this one has ${digestLength}`;
  },
  todo:
    "a DS record takes key tag, algorithm, digest type and digest, such as " +
    "60485 5 1 2bb183af5f22588179a53b0a98631fad1a292118",
} satisfies TypeDefinition;

/** SHA-1, SHA-256, GOST R 34.11-94 and SHA-384. */
const digestLengths: Readonly<Record<number, number>> = { 1: 20, 2: 32, 3: 32, 4: 48 };
