import { type KnownType, type RecordType, recordTypes } from "../../../src/core/rdata/table.ts";

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

export const purposeOf = (type: string): string => (Object.hasOwn(purposes, type) ? purposes[type as KnownType] : "");

/** The known types, followed by any others that are given. */
export function typesByUse(types: readonly string[] = recordTypes): readonly RecordType[] {
  const present = new Set(types);
  const known = Object.keys(purposes).filter((type) => present.has(type));
  return [...known, ...[...present].filter((type) => !Object.hasOwn(purposes, type))] as RecordType[];
}

/** Types that begin with the text come first: `a` is A, not the first type that contains an A. Without one, those with that purpose. */
export function typesFor(typed: string, types: readonly RecordType[]): readonly RecordType[] {
  const place = (each: RecordType) => each.indexOf(typed.trim().toUpperCase());
  const named = types.filter((each) => place(each) >= 0);
  if (named.length > 0) return named.toSorted((a, b) => Math.sign(place(a)) - Math.sign(place(b)));
  return types.filter((each) => purposeOf(each).toLowerCase().includes(typed.trim().toLowerCase()));
}
