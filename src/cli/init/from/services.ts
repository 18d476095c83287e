import type { Family } from "../../../core/addresses/address.ts";
import { dyndns2ServiceAt, dyndns2Services } from "../../../updater/targets/dyndns2-settings.ts";
import { presets, targetKinds } from "../../../updater/targets/targets.ts";
import { type ImportedPart, part } from "./imported.ts";

/** Where a program updates a name, and with which login. A string says why moor cannot do the same. */
export type ImportedTarget = ImportedPart | string;

export type Login = {
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** If it is not the password. */
  readonly token?: string | undefined;
};

/** `server` may have a scheme, a port and a path; without a path, `path` is used. */
export function dyndns2At(server: string, path: string, login: Login): ImportedTarget {
  const text = `https://${server.replace(/^https?:\/\//, "")}`;
  if (!URL.canParse(text)) return "the address of its server is not valid";
  const url = new URL(text);
  if (url.pathname === "/") url.pathname = path;
  // deSEC's own API does more than its dyndns2, with the same token.
  if (/^update6?\.dedyn\.io$/.test(url.hostname)) return withToken("desec", login.password);
  const service = url.port === "" ? dyndns2ServiceAt(url.hostname) : undefined;
  return signingIn(service === undefined ? { url: url.href } : { service }, login);
}

function signingIn(place: { readonly url: string } | { readonly service: string }, { user, password }: Login) {
  if (user === undefined || user === "") return "it has no user name";
  if (password === undefined || password === "") return "it has no password";
  return part("dyndns2", { ...place, user }, { password });
}

export const withToken = (api: string, token: string | undefined): ImportedTarget =>
  token === undefined || token === "" ? "it has no token" : part(api, {}, { token });

/** Why a service is not carried over. Moor may have a target for it, whose settings cannot be taken from the file. */
export function noTarget(service: string, shown = service): string {
  const name = bare(service);
  const gone = reasons[name] ?? reasons[service.toLowerCase()];
  if (gone !== undefined) return gone;
  if (!(name in targetKinds)) return `moor has no target for ${shown}`;
  return `moor cannot read the settings for ${shown}; write them by hand: \`api: ${name}\` (docs/targets.md)`;
}

const closed = "the service has closed";
const noRecord = "it does not write a DNS record";

const reasons: Readonly<Record<string, string>> = {
  googledomains: closed,
  "domains.google": closed,
  dtdns: closed,
  zerigo: closed,
  tzo: closed,
  cloudxns: closed,
  google: closed,
  dnspark: closed,
  hammernode1: closed,
  hn: closed,
  dyns: closed,
  tunnelbroker: `${noRecord}, but the end of a tunnel`,
  dslreports1: `${noRecord}: the service only watches whether the line is up`,
  emailonly: `${noRecord}; \`notify:\` sends mail about changes`,
  dnsmadeeasy: "the file has numbers of records, not names; write `api: http` by hand (docs/targets.md)",
  mythdyn: "the service takes the address from the connection, and moor cannot send it one",
};

/** `porkbun.com` is porkbun. */
export const bare = (service: string): string => service.toLowerCase().replace(/\.[a-z]{2,4}$/, "");

/** What the programs call services, if not as moor does, perhaps with a domain. */
const otherNames: Readonly<Record<string, string>> = {
  "1984": "1984hosting",
  "3322": "pubyun",
  afraid: "freedns",
  "all-inkl": "allinkl",
  dd24: "domaindiscount24",
  dnsexit2: "dnsexit",
  domene: "domeneshop",
  "domene.shop": "domeneshop",
  dyndns: "dyn",
  "freedns.afraid": "freedns",
  henet: "he",
  keysystems: "domaindiscount24",
  "no-ip": "noip",
  nsupdate: "nsupdateinfo",
  regfishde: "regfish",
  zoneedit1: "zoneedit",
};

/** The token of ClouDNS is a part of a URL there, and the first protocol of DNSExit is another one. */
const byHand: ReadonlySet<string> = new Set(["cloudns", "dnsexit"]);

function nameOf(service: string): string {
  const name = bare(service);
  return otherNames[name] ?? otherNames[service] ?? name;
}

/** The zones of services that hand out names in one zone only; the programs take names without it. */
export const zoneOfService: Readonly<Record<string, string>> = { duckdns: "duckdns.org", freemyip: "freemyip.com" };

/** The target of a service with an update URL. Its token may be called a password in the other program. */
export function presetOf(service: string, { user, password, token = password }: Login): ImportedTarget | undefined {
  const api = nameOf(service);
  if (!presets.includes(api) || byHand.has(bare(service))) return undefined;
  const required = (targetKinds[api]?.schema.required ?? []) as readonly string[];
  const values: Readonly<Record<string, string | undefined>> = { user, password, token };
  const lack = required.filter((key) => !values[key]);
  if (lack.length > 0) return `it has no ${lack.join(" and no ")}, which \`api: ${api}\` needs`;
  const secrets = required.filter((key) => key !== "user");
  return part(
    api,
    required.includes("user") ? { user: user ?? "" } : {},
    Object.fromEntries(secrets.map((key) => [key, values[key] ?? ""])),
  );
}

/** FreeDNS by the token of one name, as the pages of its second interface show it. */
export const freednsByToken = (token: string | undefined, family: Family): ImportedTarget =>
  token === undefined || token === ""
    ? "it has no token"
    : {
        ...part("http", {
          url: `https://${family === "ipv6" ? "v6." : ""}sync.afraid.org/u/{token}/?address={address}`,
          done: [{ text: "to {address}" }],
          unchanged: [{ text: "No IP change detected" }],
        }),
        placeholders: { token },
      };

/** Any request, described. What stands for `{password}`, and secrets in its query, become files. */
export function httpAt(template: string, done: readonly string[], login: Login, hidden?: string): ImportedTarget {
  const [base = "", query = ""] = template.split(/\?(.*)/s);
  const placeholders: Record<string, string> = template.includes("{password}") ? { password: hidden ?? "" } : {};
  const parts = query.split("&").map((each) => {
    const [, key = "", value = ""] = /^([^=]*)=(.*)$/s.exec(each) ?? [];
    if (!/key|token|pass|pwd|secret|auth|hash/i.test(key) || value === "" || /[{}]/.test(value)) return each;
    const name = `secret${Object.keys(placeholders).length + 1}`;
    placeholders[name] = decodeURIComponent(value);
    return `${key}={${name}}`;
  });
  const url = query === "" ? base : `${base}?${parts.join("&")}`;
  if (!/\{(?:address|addresses|ipv4|ipv6)\}/.test(url))
    return "its request does not contain the address; moor always sends it";
  if (placeholders.password === "") return "it has no password";
  const { user, password } = login;
  const settings = { url, done: done.map((words) => ({ text: words })), ...(user && password && { user }) };
  return { ...part("http", settings, user && password ? { password } : {}), placeholders };
}

/** At he.net, the user is the name itself. */
export function dyndns2Of(service: string, host: string, login: Login): ImportedTarget | undefined {
  const name = nameOf(service);
  if (!dyndns2Services.includes(name)) return undefined;
  return signingIn({ service: name }, name === "he" ? { ...login, user: host } : login);
}

/** Hetzner closed the API for which the token was made. */
export const hetznerToken =
  "Hetzner closed its old DNS API, and its tokens do not work with the new one: put a token of the Cloud project in the token file of the new config";
