import type { RecordType } from "../../../../src/core/rdata/table.ts";
import { caaTags } from "../../../../src/core/rdata/types/caa.ts";

export type Choice = { readonly value: string; readonly means: string };

const listed = (entries: Readonly<Record<string, string>>): readonly Choice[] =>
  Object.entries(entries).map(([value, means]) => ({ value, means }));

const tagMeans: Readonly<Record<string, string>> = {
  issue: "may issue certificates",
  issuewild: "may issue wildcard certificates",
  iodef: "where to report refused requests",
  issuemail: "may issue certificates for mail",
  issuevmc: "may issue certificates for logos",
  contactemail: "mail address of the owner",
  contactphone: "telephone number of the owner",
};

/** Usual values of a field, the most common first; others can be typed. By `TYPE.field`. */
const choices: Readonly<Record<string, readonly Choice[]>> = {
  "CAA.flags": [
    { value: "0", means: "not critical" },
    { value: "128", means: "critical: refuse if unknown" },
  ],
  "CAA.tag": caaTags.map((value) => ({ value, means: tagMeans[value] ?? "" })),
  // IANA: DNSSEC algorithm numbers and digest algorithms. Lists, because an object would sort its numeric keys.
  "DS.algorithm": [
    { value: "13", means: "ECDSA P-256 with SHA-256" },
    { value: "15", means: "Ed25519" },
    { value: "8", means: "RSA with SHA-256" },
    { value: "14", means: "ECDSA P-384 with SHA-384" },
    { value: "16", means: "Ed448" },
    { value: "10", means: "RSA with SHA-512" },
  ],
  "DS.digestType": [
    { value: "2", means: "SHA-256" },
    { value: "4", means: "SHA-384" },
    { value: "1", means: "SHA-1 (outdated)" },
  ],
  "TLSA.usage": [
    { value: "3", means: "this certificate (DANE-EE)" },
    { value: "2", means: "this authority (DANE-TA)" },
    { value: "1", means: "this certificate, publicly trusted (PKIX-EE)" },
    { value: "0", means: "this authority, publicly trusted (PKIX-TA)" },
  ],
  "TLSA.selector": [
    { value: "1", means: "public key" },
    { value: "0", means: "whole certificate" },
  ],
  "TLSA.matchingType": [
    { value: "1", means: "SHA-256" },
    { value: "2", means: "SHA-512" },
    { value: "0", means: "the data itself" },
  ],
};

export const choicesFor = (type: RecordType, field: string): readonly Choice[] | undefined =>
  choices[`${type}.${field}`];

/** Parameters of SVCB and HTTPS records; those that end with `=` need a value. */
export const svcParameters: readonly Choice[] = listed({
  "alpn=": "protocols, such as h2,h3",
  "port=": "another port",
  "ipv4hint=": "IPv4 addresses",
  "ipv6hint=": "IPv6 addresses",
  "no-default-alpn": "only the protocols in alpn",
  "ech=": "key for Encrypted Client Hello",
  "mandatory=": "parameters that clients must know",
  "dohpath=": "path of DNS over HTTPS",
});
