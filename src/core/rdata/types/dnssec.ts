import { base64ToEnd } from "../fields/bytes.ts";
import { fieldRows, plainType, type TypeDefinition } from "../fields/field.ts";
import { hexToEnd } from "../fields/hex.ts";
import { exactName } from "../fields/name.ts";
import { named, u8, u16, u32 } from "../fields/number.ts";
import { bitmap, nextHash, recordType, salt, time } from "../fields/signing.ts";
import { algorithm, checkLength, ds, sha256 } from "./ds.ts";

const key64 = "mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ==";

const dnskey = plainType(
  `257 3 13 ${key64}`,
  ["flags", u16],
  ["protocol", u8],
  ["algorithm", algorithm],
  ["key", base64ToEnd],
);
const dsForParent = { ...ds, todo: { example: `12345 13 2 ${sha256}` } } satisfies TypeDefinition;
const nsec3param = plainType("1 0 0 -", ["hash", u8], ["flags", u8], ["iterations", u16], ["salt", salt]);

/** What signing adds to a zone, and what tells the parent about it. */
export const dnssecTypes = {
  RRSIG: plainType(
    `A 13 2 3600 20301231000000 20301201000000 12345 example.org. ${key64}`,
    ["covered", recordType],
    ["algorithm", algorithm],
    ["labels", u8],
    ["ttl", u32],
    ["expiration", time],
    ["inception", time],
    ["keyTag", u16],
    ["signer", exactName],
    ["signature", base64ToEnd],
  ),
  NSEC: plainType("next.example.org. A RRSIG NSEC", ["next", exactName], ["types", bitmap]),
  DNSKEY: dnskey,
  NSEC3: {
    fields: [...nsec3param.fields, ...fieldRows(["next", nextHash], ["types", bitmap])],
    todo: { example: "1 0 0 - 2vptu5timamqttgl4luu9kg21e0aor3s A RRSIG" },
  },
  NSEC3PARAM: nsec3param,
  CDS: dsForParent,
  CDNSKEY: dnskey,
  CSYNC: plainType("66 3 A NS AAAA", ["serial", u32], ["flags", u16], ["types", bitmap]),
  ZONEMD: {
    ...plainType(
      `2026010101 1 1 ${sha256}ba7816bf8f01cfea414140de5dae2223`,
      ["serial", u32],
      ["scheme", u8],
      ["hash", u8],
      ["digest", hexToEnd],
    ),
    check: checkLength("hash", "digest", { 1: 48, 2: 64 }, 12),
  },
  /** RFC 9859 section 2. */
  DSYNC: plainType(
    "CDS NOTIFY 5359 cds-scanner.example.org.",
    ["type", recordType],
    ["scheme", named(u8, { NOTIFY: 1 }, "name")],
    ["port", u16],
    ["target", exactName],
  ),
  TA: dsForParent,
  DLV: dsForParent,
} satisfies Record<string, TypeDefinition>;
