import { enclosing } from "../../core/names/name.ts";
import type { Reserved } from "../../core/names/zone-neighbours.ts";

/**
 * Why no single account should own a zone with this name: many parties have names below it, or it is above or below the name of one
 * of the service's own nameservers. Undefined for all other names.
 */
export async function reservedName(name: string, nameservers: readonly string[]): Promise<Reserved | undefined> {
  const isAround = (server: string): boolean => enclosing(server).includes(name) || enclosing(name).includes(server);
  if (nameservers.some((server) => isAround(server.toLowerCase()))) return "name-server";
  return (await isPublicSuffix(name)) ? "public-suffix" : undefined;
}

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
