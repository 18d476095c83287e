import { dyndns2ServiceAt } from "../../../updater/targets/dyndns2-settings.ts";
import { targetKinds } from "../../../updater/targets/targets.ts";
import { type Part, part } from "./imported.ts";

/** Where a program updates a name, and with which login. A string says why moor cannot do the same. */
export type Found = Part | string;

export type Login = { readonly user: string | undefined; readonly password: string | undefined };

/** `server` may have a scheme, a port and a path; without a path, `path` is used. */
export function dyndns2At(server: string, path: string, login: Login): Found {
  const text = `https://${server.replace(/^https?:\/\//, "")}`;
  if (!URL.canParse(text)) return "the address of its server is not valid";
  const url = new URL(text);
  if (url.pathname === "/") url.pathname = path;
  // deSEC's own API does more than its dyndns2, with the same token.
  if (/^update6?\.dedyn\.io$/.test(url.hostname)) return withToken("desec", login.password);
  const service = url.port === "" ? dyndns2ServiceAt(url.hostname) : undefined;
  const place = service === undefined ? { url: url.href } : { service };
  if (login.user === undefined || login.user === "") return "it has no user name";
  if (login.password === undefined || login.password === "") return "it has no password";
  return part("dyndns2", { ...place, user: login.user }, { password: login.password });
}

export const withToken = (api: string, token: string | undefined): Found =>
  token === undefined || token === "" ? "it has no token" : part(api, {}, { token });

/** Why a service is not carried over. Moor may have a target for it, whose settings cannot be taken from the file. */
export function noTarget(service: string, shown = service): string {
  const name = bare(service);
  if (!(name in targetKinds)) return `moor has no target for ${shown}`;
  return `moor cannot read the settings for ${shown}; write them by hand: \`api: ${name}\` (docs/targets.md)`;
}

/** `porkbun.com` is porkbun. */
export const bare = (service: string): string => service.toLowerCase().replace(/\.[a-z]{2,4}$/, "");

/** Hosts of well-known services, by the names that the programs have for them. */
const hosts: Readonly<Record<string, string>> = {
  dnsomatic: "updates.dnsomatic.com",
  dyn: "members.dyndns.org",
  "dyndns.org": "members.dyndns.org",
  dynu: "api.dynu.com",
  "dynu.com": "api.dynu.com",
  he: "dyn.dns.he.net",
  henet: "dyn.dns.he.net",
  "he.net": "dyn.dns.he.net",
  infomaniak: "infomaniak.com",
  inwx: "dyndns.inwx.com",
  "no-ip.com": "dynupdate.no-ip.com",
  noip: "dynupdate.no-ip.com",
  "noip.com": "dynupdate.no-ip.com",
  ovh: "dns.eu.ovhapis.com",
  "ovh.com": "dns.eu.ovhapis.com",
  "dnsomatic.com": "updates.dnsomatic.com",
  "selfhost.de": "carol.selfhost.de",
  spdyn: "update.spdyn.de",
  "spdyn.de": "update.spdyn.de",
  strato: "dyndns.strato.com",
  "strato.com": "dyndns.strato.com",
  variomedia: "dyndns.variomedia.de",
};

/** At he.net, and at Strato without a user name, the user is the name itself. */
export function dyndns2Of(service: string, host: string, login: Login): Found | undefined {
  const server = hosts[service];
  if (server === undefined) return undefined;
  const user = server === "dyn.dns.he.net" ? host : login.user;
  return dyndns2At(server, "/nic/update", { ...login, user });
}

/** Hetzner closed the API for which the token was made. */
export const hetznerToken =
  "Hetzner closed its old DNS API, and its tokens do not work with the new one: put a token of the Cloud project in the token file of the new config";
