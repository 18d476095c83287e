import { enclosing } from "../../core/names/name.ts";
import type { Reserved } from "../../core/names/zone-neighbours.ts";

/**
 * Why no account should hold a zone of this name alone: names of many parties end in it, or the service's own name servers
 * are in it. Undefined for all other names.
 */
export async function reservedName(name: string, nameservers: readonly string[]): Promise<Reserved | undefined> {
  if (nameservers.some((server) => enclosing(server.toLowerCase()).includes(name))) return "name-server";
  return (await isPublicSuffix(name)) ? "public-suffix" : undefined;
}

/** In the list, and yet for everybody's own use at home (RFC 8375). */
const homeNames: ReadonlySet<string> = new Set(["home.arpa"]);

/**
 * Listed at publicsuffix.org, by registries or by those who hand out names below their own. The rule for names that are not
 * listed does not count, so that `lan` or `internal` stay possible. The list is loaded with the first name that is asked for.
 */
async function isPublicSuffix(name: string): Promise<boolean> {
  const { parse } = await import("tldts");
  const options = { allowPrivateDomains: true, detectIp: false, extractHostname: false, validateHostname: false };
  const isListed = (suffix: string): boolean => {
    const { publicSuffix, isIcann, isPrivate } = parse(suffix, options);
    return publicSuffix === suffix && (isIcann === true || isPrivate === true);
  };
  // The second is for names that are listed as `*.sch.uk` only.
  return (isListed(name) || isListed(`any-name.${name}`)) && !homeNames.has(name);
}
