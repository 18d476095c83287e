import { ok } from "../result.ts";
import type { FieldKind } from "./field.ts";
import { u8 } from "./field-number.ts";

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
