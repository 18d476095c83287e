/** Numbers from IANA's registries: types of records, and algorithms. */
export const dnssecTypes = {
  ds: 43,
  rrsig: 46,
  nsec: 47,
  dnskey: 48,
  nsec3: 50,
  nsec3param: 51,
  cds: 59,
  cdnskey: 60,
} as const;

/** DNSSEC treats sets of these types specially: they may delegate the names below them, or occlude them. */
export const occludingTypes = { ns: 2, dname: 39 } as const;

/** ECDSA P-256 with SHA-256 (RFC 6605) and Ed25519 (RFC 8080). */
export const algorithms = { ecdsap256: 13, ed25519: 15 } as const;
export type Algorithm = (typeof algorithms)[keyof typeof algorithms];

/** Their names in options and requests. */
export const algorithmChoices: Readonly<Record<string, Algorithm>> = {
  "ecdsa-p256": algorithms.ecdsap256,
  ed25519: algorithms.ed25519,
};

/** Their names in the registry; other servers may use any of them. */
const algorithmNames: Readonly<Record<number, string>> = {
  5: "RSASHA1",
  7: "NSEC3RSASHA1",
  8: "RSASHA256",
  10: "RSASHA512",
  13: "ECDSAP256SHA256",
  14: "ECDSAP384SHA384",
  15: "ED25519",
  16: "ED448",
};
export const algorithmName = (algorithm: number): string => algorithmNames[algorithm] ?? "unknown";

/** RFC 4034 section 2.1: a key of the zone that a DS record can refer to. */
export const keyFlags = 257;
/** A key that signs the zone, but not its DNSKEY set. */
export const zoneKeyFlags = 256;
