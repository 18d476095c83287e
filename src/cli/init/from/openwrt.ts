import { type Imported, type ImportedName, type ImportedSource, type Notes, part } from "./imported.ts";
import { fromCommand, fromInterface, fromWeb, oneAddressPerLine, severalServices } from "./origins.ts";
import {
  bare,
  dyndns2At,
  dyndns2Of,
  freednsByToken,
  httpAt,
  type ImportedTarget,
  noTarget,
  presetOf,
  withToken,
} from "./services.ts";

type Service = { readonly name: string; readonly line: number; readonly options: ReadonlyMap<string, UciOption> };
type UciOption = { readonly value: string; readonly line: number };

/** OpenWrt's /etc/config/ddns (ddns-scripts) in the settings of moor. */
export function importOpenwrt(text: string, notes: Notes): Imported {
  const services = readServices(text);
  const names = joined(services.flatMap((service) => namesOf(service, notes)));
  const periods = services.flatMap((service) => periodOf(service) ?? []);
  // Most of its scripts change existing records only.
  return { names, onlyPublic: true, creates: () => false, ...(periods.length > 0 && { period: Math.min(...periods) }) };
}

function readServices(text: string): readonly Service[] {
  const services: { name: string; line: number; options: Map<string, UciOption> }[] = [];
  let isService = false;
  for (const [at, written] of text.split(/\r?\n/).entries()) {
    const [, word = "", key = "", value = ""] = /^\s*(config|option|list)\s+(\S+)(?:\s+(.*))?$/.exec(written) ?? [];
    if (word === "config") {
      isService = unquoted(key) === "service";
      if (isService) services.push({ name: unquoted(value), line: at + 1, options: new Map() });
    } else if (word === "option" && isService) {
      services.at(-1)?.options.set(unquoted(key), { value: unquoted(value), line: at + 1 });
    }
  }
  return services;
}

/** A word of UCI, between quotes or up to the next blank. */
const unquoted = (text: string): string =>
  /^'([^']*)'|^"([^"]*)"|^(\S*)/
    .exec(text.trim())
    ?.slice(1)
    .find((each) => each !== undefined) ?? "";

/** A service of ddns-scripts has one family, so a name with both has two. */
function joined(names: readonly ImportedName[]): readonly ImportedName[] {
  const byName = Map.groupBy(names, ({ host, target }) => `${host} ${JSON.stringify(target)}`);
  return [...byName.values()].flatMap(([first, ...others]) =>
    first ? [others.reduce((name, { origins }) => ({ ...name, origins: { ...origins, ...name.origins } }), first)] : [],
  );
}

function namesOf(service: Service, notes: Notes): readonly ImportedName[] {
  const { name, line } = service;
  const text = (key: string): string | undefined => service.options.get(key)?.value || undefined;
  if (text("enabled") === "0") {
    notes.lost(line, `${name}: it is switched off there (enabled 0)`);
    return [];
  }
  for (const [key, option] of service.options)
    if (!used.test(key)) notes.lost(option.line, `${key}: ${unused[key] ?? notKnown}`);
  const domain = text("domain")?.replace("@", ".").replace(/^\./, "");
  const zone = text("domain")?.includes("@") ? text("domain")?.split("@")[1] : undefined;
  const host = zone === undefined ? (text("lookup_host") ?? domain) : domain;
  if (host === undefined) {
    notes.lost(line, `${name}: it has no lookup_host and no domain`);
    return [];
  }
  const target = targetOf(text, host);
  if (typeof target === "string") {
    notes.lost(line, `${host}: ${target}`);
    return [];
  }
  const origin = originOf(service, notes);
  if (origin === undefined) return [];
  const origins = text("use_ipv6") === "1" ? { ipv6: origin } : { ipv4: origin };
  return [{ host, zone, line, target, origins, ttl: Number.NaN }];
}

function originOf({ line, options }: Service, notes: Notes): ImportedSource | undefined {
  const text = (key: string) => options.get(key)?.value || undefined;
  const way = text("ip_source") ?? "network";
  const at = options.get(`ip_${way}`)?.line ?? options.get("ip_source")?.line ?? line;
  const [device, script] = [text("ip_interface"), text("ip_script")];
  if (way === "interface" && device !== undefined) return fromInterface(device);
  if (way === "script" && script !== undefined) {
    notes.assumed(at, `ip_script: ${oneAddressPerLine}`);
    return fromCommand(script);
  }
  notes.assumed(
    at,
    way === "network"
      ? `ip_network ${text("ip_network") ?? "wan"}: ${byRouter}`
      : `ip_source ${way}: ${severalServices}`,
  );
  return fromWeb;
}

const byRouter = `only the router knows the interface; ${severalServices}. To read the router, use \`kind: openwrt\` (docs/sources.md)`;

type Text = (key: string) => string | undefined;

function targetOf(text: Text, host: string): ImportedTarget {
  const login = { user: text("username"), password: text("password") };
  const service = text("service_name")?.toLowerCase();
  const url = text("update_url");
  if (service === undefined || service === "custom" || service === "-- custom --")
    return url === undefined ? "it has no service_name and no update_url" : targetAt(url, login);
  const name = service.replace(/-v\d+(?:-token)?$/, "");
  if (name === "cloudflare.com") return login.user === "Bearer" ? withToken("cloudflare", login.password) : globalKey;
  if (name === "afraid.org") return freednsByToken(login.password, text("use_ipv6") === "1" ? "ipv6" : "ipv4");
  const key = pairs[bare(name)];
  if (key !== undefined)
    return login.user && login.password
      ? part(key, {}, { key: login.user, secret: login.password })
      : "it has no user name or no password";
  const api = tokens[name] ?? tokens[bare(name)];
  if (api !== undefined) return withToken(api, login.password);
  const plain = name.replace(/-(?:basicauth|keyauth|basic|token)$/, "");
  return presetOf(plain, login) ?? dyndns2Of(plain, host, login) ?? noTarget(plain, service);
}

const globalKey =
  "moor needs an API token, not the global API key; create one, and set username to Bearer and password to the token";
const tokens: Readonly<Record<string, string>> = {
  "desec.io": "desec",
  "dedyn.io": "desec",
  digitalocean: "digitalocean",
  gandi: "gandi",
  "hetzner.cloud": "hetzner",
  hetzner_cloud: "hetzner",
};
const pairs: Readonly<Record<string, string>> = { godaddy: "godaddy", porkbun: "porkbun", spaceship: "spaceship" };

/** Any server: by dyndns2 if that is its request, otherwise by its request. */
function targetAt(
  template: string,
  login: { readonly user: string | undefined; readonly password: string | undefined },
): ImportedTarget {
  const url = template.replace(/^http:/, "https:");
  const [, authority = "", path = "", query = ""] = /^https:\/\/([^/?]+)([^?]*)\??(.*)$/.exec(url) ?? [];
  const server = authority.replace(/^.*@/, "");
  if (server === "") return "its update_url is not a URL";
  const parameters = query.split("&").filter((each) => each !== "");
  if (path === "/nic/update" && parameters.every((each) => /^(?:hostname=\[DOMAIN\]|myip=\[IP\])$/.test(each)))
    return dyndns2At(server, path, login);
  const filled = `https://${server}${path}${query === "" ? "" : `?${query}`}`
    .replaceAll("[DOMAIN]", "{name}")
    .replaceAll("[IP]", "{address}")
    .replaceAll("[USERNAME]", encodeURIComponent(login.user ?? ""))
    .replaceAll("[PASSWORD]", "{password}");
  const basic = authority.includes("@") ? login : { user: undefined, password: undefined };
  return httpAt(filled, ["good", "OK", "updated"], basic, login.password);
}

const seconds: Readonly<Record<string, number>> = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 };

function periodOf({ options }: Service): number | undefined {
  const count = Number(options.get("check_interval")?.value);
  return count > 0 ? count * (seconds[options.get("check_unit")?.value ?? "minutes"] ?? 60) : undefined;
}

const notKnown = "moor does not know this setting";
const unused: Readonly<Record<string, string>> = {
  cacert: "set `ca:` of the target to this file",
  proxy: "moor does not use a proxy",
  dns_server: "set `dns:` of the target",
  update_script: "moor runs no script of ddns-scripts; see docs/targets.md for the service",
  param_enc: "moor does not know this setting of the service",
  param_opt: "moor finds the record by its name",
};
const used =
  /^(?:enabled|service_name|lookup_host|domain|username|password|use_ipv6|use_https|ip_(?:source|network|interface|url|script)|interface|bind_network|update_url|check_(?:interval|unit)|force_(?:interval|unit|ipversion|dnstcp)|retry_.*|use_(?:syslog|logfile)|is_glue)$/;
