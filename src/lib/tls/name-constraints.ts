import { X509Certificate } from "node:crypto";
import { parseAddress } from "../../core/addresses/address.ts";

/** RFC 5280 section 4.2.1.10, and its bytes in a certificate. */
export const nameConstraintsOid = "2.5.29.30";
const oidBytes = Buffer.of(0x06, 0x03, 0x55, 0x1d, 0x1e);

const tags = { sequence: 0x30, octets: 0x04, permitted: 0xa0, dnsName: 0x82 } as const;

/** Names of home networks, which do not exist on the internet. */
const privateNames = [
  "localdomain",
  "local",
  "lan",
  "home",
  "internal",
  "intranet",
  "private",
  "test",
  "home.arpa",
  "fritz.box",
];

/**
 * The names that a new authority may sign for, including names below them: those of the machine and of home networks,
 * and the domains of `certificateNames`. Undefined (any name) if no domain is given: later ones are not known yet, and
 * their certificates must come from this authority too. Addresses are never limited.
 */
export function permittedNames(certificateNames: readonly string[], hostname: string): readonly string[] | undefined {
  const domains = certificateNames
    .filter((name) => name.includes(".") && parseAddress(name) === undefined)
    .map(domainOf);
  return domains.length === 0
    ? undefined
    : [...new Set(["localhost", hostname.toLowerCase(), ...domains, ...privateNames])];
}

/** The domain of `dns.example.org` is `example.org`; `example.org` and `example.co.uk` are domains themselves. */
function domainOf(name: string): string {
  const labels = name.toLowerCase().replace(/\.$/, "").split(".");
  const above = labels.slice(1);
  const isShared =
    above.length < 2 || (above.length === 2 && (above[0] ?? "").length <= 3 && (above[1] ?? "").length === 2);
  return (isShared ? labels : above).join(".");
}

/** Whether the authority with this certificate may sign for a host name or address. */
export function permits(authority: string): (name: string) => boolean {
  const bases = readNameConstraints(new X509Certificate(authority).raw);
  return (name) => {
    const lower = name.toLowerCase();
    if (bases === undefined || parseAddress(name) !== undefined) return true;
    return bases.some((base) => lower === base || lower.endsWith(`.${base}`));
  };
}

export function writeNameConstraints(permitted: readonly string[]): Buffer {
  const subtrees = permitted.map((name) => tlv(tags.sequence, tlv(tags.dnsName, Buffer.from(name, "latin1"))));
  return tlv(tags.sequence, tlv(tags.permitted, ...subtrees));
}

/** The permitted DNS names in a certificate; undefined if it does not limit them. */
function readNameConstraints(certificate: Buffer): readonly string[] | undefined {
  const at = certificate.indexOf(oidBytes);
  if (at < 0) return undefined;
  const value = partsOf(certificate.subarray(at)).find(({ tag }) => tag === tags.octets)?.content;
  const constraints = value && partsOf(value)[0]?.content;
  const permitted = constraints && partsOf(constraints).find(({ tag }) => tag === tags.permitted)?.content;
  const names = (permitted ? partsOf(permitted) : []).flatMap(({ content }) => partsOf(content));
  const dns = names.filter(({ tag }) => tag === tags.dnsName).map(({ content }) => content.toString("latin1"));
  return dns.length === 0 ? undefined : dns;
}

type DerElement = { readonly tag: number; readonly content: Buffer };

/** Reads DER, up to the first incomplete part. */
function partsOf(bytes: Buffer): readonly DerElement[] {
  const parts: DerElement[] = [];
  for (let at = 0; at + 2 <= bytes.length; ) {
    const first = bytes[at + 1] ?? 0;
    const more = first < 0x80 ? 0 : first & 0x7f;
    if (more > 4 || at + 2 + more > bytes.length) break;
    const length = more === 0 ? first : bytes.readUIntBE(at + 2, more);
    const begin = at + 2 + more;
    if (begin + length > bytes.length) break;
    parts.push({ tag: bytes[at] ?? 0, content: bytes.subarray(begin, begin + length) });
    at = begin + length;
  }
  return parts;
}

function tlv(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
