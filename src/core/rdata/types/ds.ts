import { type FieldValues, fieldRows, type TypeDefinition } from "../fields/field.ts";
import { hexToEnd } from "../fields/hex.ts";
import { named, u8, u16 } from "../fields/number.ts";

/** IANA's registry of DNSSEC algorithm numbers; zone files may write a name (RFC 4034 section 5.3). */
const algorithmNumbers = {
  RSAMD5: 1,
  DH: 2,
  DSA: 3,
  RSASHA1: 5,
  "DSA-NSEC3-SHA1": 6,
  "RSASHA1-NSEC3-SHA1": 7,
  RSASHA256: 8,
  RSASHA512: 10,
  "ECC-GOST": 12,
  ECDSAP256SHA256: 13,
  ECDSAP384SHA384: 14,
  ED25519: 15,
  ED448: 16,
};
export const algorithm = named(u8, algorithmNumbers, "number");

/** What a kind of digest or of fingerprint fixes: its length. Data of another kind has at least `least` bytes. */
export const checkLength =
  (kind: string, bytes: string, lengths: Readonly<Record<number, number>>, least = 1) =>
  (fields: FieldValues): string | undefined => {
    const [length, actual] = [lengths[Number(fields[kind])], String(fields[bytes]).length];
    if (length === undefined ? actual >= least : actual === length) return undefined;
    return `a ${bytes} of type ${String(fields[kind])} has ${length ?? `at least ${least}`} bytes, this one has ${actual}`;
  };

export const sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

/** RFC 4034 section 5, for SHA-1, SHA-256, GOST R 34.11-94 and SHA-384. */
export const ds = {
  fields: fieldRows(["keyTag", u16], ["algorithm", algorithm], ["digestType", u8], ["digest", hexToEnd]),
  check: checkLength("digestType", "digest", { 1: 20, 2: 32, 3: 32, 4: 48 }),
  todo:
    "a DS record takes key tag, algorithm, digest type and digest, such as " +
    "60485 5 1 2bb183af5f22588179a53b0a98631fad1a292118",
} satisfies TypeDefinition;
