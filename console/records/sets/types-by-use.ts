import { bytesTypes, type KnownType, type RecordType, recordTypes, typeName } from "../../../src/core/rdata/table.ts";

/** What each type is for; the most used types come first. */
const purposes: Readonly<Record<KnownType, string>> = {
  A: "IPv4 address of a name",
  AAAA: "IPv6 address of a name",
  CNAME: "alias of another name",
  MX: "server that receives mail",
  TXT: "text, such as SPF or domain verification",
  SRV: "host and port of a service",
  CAA: "who may issue certificates",
  NS: "nameserver of this or a delegated zone",
  HTTPS: "how to connect to a website",
  SVCB: "how to connect to a service",
  PTR: "name of an address (reverse DNS)",
  TLSA: "certificate of a server (DANE)",
  DS: "DNSSEC key of a delegated zone",
  HINFO: "hardware and operating system of a host",
  RP: "person responsible for a name",
  SOA: "start of the zone",
};

/** Rarer types whose purpose people look for. */
const rarePurposes: Readonly<Record<string, string>> = {
  SSHFP: "fingerprint of an SSH host key",
  NAPTR: "rewriting rule, for SIP and ENUM",
  URI: "address of a service",
  DNAME: "alias for all names below this one",
  LOC: "geographical location",
  SMIMEA: "certificate for signed mail (S/MIME)",
  OPENPGPKEY: "OpenPGP key of a mail address",
  CERT: "certificate or key",
  APL: "list of address prefixes",
  CDS: "DNSSEC key for the parent zone",
  CDNSKEY: "DNSSEC key for the parent zone",
  CSYNC: "which records the parent zone should copy",
  DNSKEY: "DNSSEC key of this zone",
};

export const purposeOf = (type: string): string =>
  (Object.hasOwn(purposes, type) ? purposes[type as KnownType] : rarePurposes[typeName(type)]) ?? "";

/** Signing makes these, MD and MF are obsolete, and SPF records are TXT records today: nobody adds them by hand. */
const notAdded = new Set(["RRSIG", "NSEC", "NSEC3", "NSEC3PARAM", "MD", "MF", "SPF"]);

/** All types that a person can add: the known ones by use, then those with a purpose, then the rest by name. */
export const typesToAdd: readonly RecordType[] = [
  ...typesByUse(),
  ...bytesTypes
    .filter((type) => !notAdded.has(typeName(type)))
    .toSorted((a, b) => rank(a) - rank(b) || (typeName(a) < typeName(b) ? -1 : 1)),
];

function rank(type: RecordType): number {
  const at = Object.keys(rarePurposes).indexOf(typeName(type));
  return at < 0 ? Number.MAX_SAFE_INTEGER : at;
}

/** The known types, followed by any others that are given. */
export function typesByUse(types: readonly string[] = recordTypes): readonly RecordType[] {
  const present = new Set(types);
  const ordered = Object.keys(purposes).filter((type) => present.has(type));
  return [...ordered, ...[...present].filter((type) => !Object.hasOwn(purposes, type))] as RecordType[];
}

/**
 * Types that begin with the text come first: `a` is A, not the first type that contains an A. Without one, those with
 * that purpose.
 */
export function typesFor(typed: string, types: readonly RecordType[]): readonly RecordType[] {
  const place = (each: RecordType) => typeName(each).indexOf(typed.trim().toUpperCase());
  const named = types.filter((each) => place(each) >= 0);
  if (named.length > 0) return named.toSorted((a, b) => Math.sign(place(a)) - Math.sign(place(b)));
  return types.filter((each) => purposeOf(each).toLowerCase().includes(typed.trim().toLowerCase()));
}
