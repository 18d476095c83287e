import { base64ToEnd } from "../fields/bytes.ts";
import { plainType, type TypeDefinition } from "../fields/field.ts";
import { hostIdentity, ipsecGateway } from "../fields/gateway.ts";
import { hexToEnd } from "../fields/hex.ts";
import { named, u8, u16 } from "../fields/number.ts";
import { algorithm, checkLength, sha256 } from "./ds.ts";
import { tlsa } from "./tlsa.ts";

const key = "AQNRU3mG7TVTO2BkR47usntb102uFJtugbo6BSGvgqt4AQ==";

/** RFC 4398 section 2.1. */
const certificateTypes = {
  PKIX: 1,
  SPKI: 2,
  PGP: 3,
  IPKIX: 4,
  ISPKI: 5,
  IPGP: 6,
  ACPKIX: 7,
  IACPKIX: 8,
  URI: 253,
  OID: 254,
};

/** Keys and certificates of other protocols. */
export const keyTypes = {
  CERT: plainType(
    `PKIX 0 0 ${key}`,
    ["type", named(u16, certificateTypes, "name")],
    ["keyTag", u16],
    ["algorithm", algorithm],
    ["certificate", base64ToEnd],
  ),
  SSHFP: {
    ...plainType(`4 2 ${sha256}`, ["algorithm", u8], ["digestType", u8], ["fingerprint", hexToEnd]),
    check: checkLength("digestType", "fingerprint", { 1: 20, 2: 32 }, 2),
  },
  IPSECKEY: plainType(`10 1 2 192.0.2.1 ${key}`, ["precedence", u8], ["gateway", ipsecGateway]),
  HIP: plainType(`2 200100107b1a74df365639cc39f1d578 ${key} rvs.example.org.`, ["identity", hostIdentity]),
  SMIMEA: { fields: tlsa.fields, todo: { example: `3 1 1 ${sha256}` } },
  OPENPGPKEY: plainType("mQENBFVHm5sBCAC/", ["key", base64ToEnd]),
  DHCID: plainType("AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA=", ["data", base64ToEnd]),
  HHIT: plainType("gwppVFgGQ5hEQVJQQQ==", ["data", base64ToEnd]),
  BRID: plainType("owAAAYIEUAAAAA==", ["data", base64ToEnd]),
} satisfies Record<string, TypeDefinition>;
