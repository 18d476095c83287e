/** What a type is for: types with the same use have the same colour in the table. */
export type TypeUse = "address" | "alias" | "mail" | "text" | "service" | "trust" | "zone" | "other";

export const useOf = (type: string): TypeUse => uses[type] ?? "other";

const uses: Readonly<Record<string, TypeUse>> = {
  A: "address",
  AAAA: "address",
  CNAME: "alias",
  DNAME: "alias",
  PTR: "alias",
  MX: "mail",
  TXT: "text",
  SPF: "text",
  SRV: "service",
  SVCB: "service",
  HTTPS: "service",
  NAPTR: "service",
  URI: "service",
  CAA: "trust",
  DS: "trust",
  TLSA: "trust",
  SSHFP: "trust",
  SMIMEA: "trust",
  OPENPGPKEY: "trust",
  DNSKEY: "trust",
  CDS: "trust",
  CDNSKEY: "trust",
  NS: "zone",
  SOA: "zone",
};
