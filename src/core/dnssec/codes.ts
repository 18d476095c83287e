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

/** ECDSA P-256 with SHA-256 (RFC 6605) and Ed25519 (RFC 8080). */
export const algorithms = { ecdsap256: 13, ed25519: 15 } as const;
export type Algorithm = (typeof algorithms)[keyof typeof algorithms];

/** RFC 4034 section 2.1: a key of the zone that its parent may refer to. */
export const keyFlags = 257;
