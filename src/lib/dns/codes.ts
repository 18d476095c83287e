/** Numbers of the DNS protocol, under the names that its RFCs use. */

export const opcodes = { query: 0, notify: 4, update: 5 } as const;

export const rcodes = {
  noError: 0,
  formErr: 1,
  servFail: 2,
  nxDomain: 3,
  notImp: 4,
  refused: 5,
  yxDomain: 6,
  yxRrset: 7,
  nxRrset: 8,
  notAuth: 9,
  notZone: 10,
  badVers: 16,
} as const;

export const classes = { in: 1, ch: 3, none: 254, any: 255 } as const;

/** Types with a meaning in the protocol itself; record types are in `core/rdata`. */
export const types = {
  soa: 6,
  opt: 41,
  ds: 43,
  nxname: 128,
  tkey: 249,
  tsig: 250,
  ixfr: 251,
  axfr: 252,
  mailb: 253,
  maila: 254,
  any: 255,
} as const;

export const headerLength = 12;

/** The largest message: over TCP its length has two bytes (RFC 1035 section 4.2.2). */
export const maximumMessage = 65_535;

/** Bits of the second 16-bit word of the header (RFC 1035 section 4.1.1, RFC 4035 section 3). */
export const flags = {
  response: 0x8000,
  authoritative: 0x0400,
  truncated: 0x0200,
  recursionDesired: 0x0100,
  recursionAvailable: 0x0080,
  authenticData: 0x0020,
  checkingDisabled: 0x0010,
} as const;
