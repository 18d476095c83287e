import { parseAddress } from "../../../core/addresses/address.ts";
import { enclosing } from "../../../core/names/name.ts";
import type { Reserved } from "../../../core/names/zone-neighbours.ts";
import type { Fault } from "../../../core/result.ts";
import { placeholderNameservers } from "../../options.ts";
import type { NotCreated } from "../../store/port.ts";

/** The names under which this service is reached. */
export type OwnNames = {
  readonly nameservers: readonly string[];
  /** Names in its certificates; addresses may be among them. */
  readonly serviceNames?: readonly string[];
  /** The zone that lists all others for secondaries. */
  readonly catalog?: string | undefined;
};

/**
 * Why no single account should own a zone with this name: many parties have names below it, or it is above or below a
 * name of the service itself. Undefined for all other names.
 */
export async function reservedName(name: string, own?: OwnNames): Promise<Reserved | undefined> {
  const isAround = (server: string): boolean => enclosing(server).includes(name) || enclosing(name).includes(server);
  const servers = [...(own?.nameservers ?? []), ...placeholderNameservers];
  if (servers.some((server) => isAround(server.toLowerCase()))) return "name-server";
  if (own?.catalog !== undefined && enclosing(name).includes(own.catalog)) return "catalog";
  if (own?.serviceNames?.flatMap(zoneNameOf).some(isAround)) return "service-name";
  return (await isPublicSuffix(name)) ? "public-suffix" : undefined;
}

const zoneNameOf = (serviceName: string): readonly string[] =>
  parseAddress(serviceName) === undefined ? [serviceName.toLowerCase().replace(/^\*\.|\.$/g, "")] : [];

/** In the list, but meant for everyone's home network (RFC 8375). */
const homeNames: ReadonlySet<string> = new Set(["home.arpa"]);

/**
 * Listed at publicsuffix.org, by registries or by services that hand out names below their own. The list's default rule
 * for unlisted names is not applied: it is about top-level domains, which cannot be zones. The list is loaded on first
 * use.
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

/** Reveals only that another account's zone exists, neither its owner nor its name. */
export function zoneNotCreated(name: string, why: NotCreated): Fault {
  const fault = (code: string, message: string, todo: string): Fault => ({ code, where: "name", message, todo });
  switch (why) {
    case "name-taken":
      return fault("zone-taken", `the zone ${name} already exists`, "use the existing zone, or delete it first");
    case "inside-foreign-zone":
      return fault("zone-not-granted", `${name} is inside a zone of another account`, askOwner);
    case "above-foreign-zone":
      return fault("zone-not-granted", `a zone of another account is below ${name}`, askOwner);
    case "public-suffix":
      return fault("name-reserved", `${name} is a public suffix: many owners have names below it`, askOperator);
    case "name-server":
      return fault("name-reserved", `${name} is reserved for the nameservers of this service`, askOperator);
    case "service-name":
      return fault("name-reserved", `${name} is reserved for the name of this service`, askOperator);
    case "catalog":
      return fault("name-reserved", `${name} is reserved for the catalog of zones`, askOperator);
    default:
      return why satisfies never;
  }
}

const askOwner = "ask its owner to grant you the name, or the operator to allow it";
const askOperator = "use another name, or ask the operator to allow this one";
