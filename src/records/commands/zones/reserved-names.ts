import { parseAddress } from "../../../core/addresses/address.ts";
import { enclosing } from "../../../core/names/name.ts";
import type { Reserved } from "../../../core/names/zone-neighbours.ts";

/** The names under which this service is reached. */
export type OwnNames = {
  readonly nameservers: readonly string[];
  /** Names in its certificates; addresses may be among them. */
  readonly serviceNames?: readonly string[];
};

/**
 * Why no single account should own a zone with this name: many parties have names below it, or it is above or below a name of the
 * service itself. Undefined for all other names.
 */
export async function reservedName(name: string, own?: OwnNames): Promise<Reserved | undefined> {
  const isAround = (server: string): boolean => enclosing(server).includes(name) || enclosing(name).includes(server);
  if (own?.nameservers.some((server) => isAround(server.toLowerCase()))) return "name-server";
  if (own?.serviceNames?.flatMap(zoneNameOf).some(isAround)) return "service-name";
  return (await isPublicSuffix(name)) ? "public-suffix" : undefined;
}

const zoneNameOf = (serviceName: string): readonly string[] =>
  parseAddress(serviceName) === undefined ? [serviceName.toLowerCase().replace(/^\*\.|\.$/g, "")] : [];

/** In the list, but meant for everyone's home network (RFC 8375). */
const homeNames: ReadonlySet<string> = new Set(["home.arpa"]);

/**
 * Listed at publicsuffix.org, by registries or by services that hand out names below their own. The list's default rule for
 * unlisted names is not applied: it is about top-level domains, which cannot be zones. The list is loaded on first use.
 */
async function isPublicSuffix(name: string): Promise<boolean> {
  const { parse } = await import("tldts");
  const options = { allowPrivateDomains: true, detectIp: false, extractHostname: false, validateHostname: false };
  const isListed = (suffix: string): boolean => {
    const { publicSuffix, isIcann, isPrivate } = parse(suffix, options);
    return publicSuffix === suffix && (isIcann === true || isPrivate === true);
  };
  // The second test is for names that are listed only as a wildcard, such as `*.sch.uk`.
  return (isListed(name) || isListed(`any-name.${name}`)) && !homeNames.has(name);
}
