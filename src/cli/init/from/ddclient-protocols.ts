import type { HostSettings } from "./ddclient-file.ts";
import { type ImportedPart, type Notes, part } from "./imported.ts";
import { dyndns2At, dyndns2Of, hetznerToken, type ImportedTarget, noTarget, presetOf, withToken } from "./services.ts";

/** What a protocol may look at, besides the settings of the host. */
type Around = {
  readonly host: string;
  readonly notes: Notes;
  readonly readFile: (path: string) => string | undefined;
};

type Protocol = (settings: HostSettings, around: Around) => ImportedTarget;

const protocolOf = (settings: HostSettings): string => settings.get("protocol")?.value.toLowerCase() ?? "dyndns2";

/** If not, nothing can be said about the other settings either. */
export function isKnownProtocol(settings: HostSettings): boolean {
  const name = protocolOf(settings);
  const login = { user: "any", password: "any" };
  return (
    name in protocols || presetOf(name, login) !== undefined || dyndns2Of(name, "any.example", login) !== undefined
  );
}

/** Where a host is updated; ddclient's default is dyndns2. */
export function targetOf(settings: HostSettings, around: Around): ImportedTarget {
  const name = protocolOf(settings);
  const login = { user: settings.get("login")?.value, password: settings.get("password")?.value };
  const target =
    protocols[name]?.(settings, around) ??
    presetOf(name, login) ??
    dyndns2Of(name, around.host, login) ??
    noTarget(name, `protocol=${name}`);
  return typeof target === "string" ? target : withAuthorities(target, settings, around);
}

/** The zone of a host. At deSEC and Namecheap, it is the login. */
export function zoneOf(settings: HostSettings): string | undefined {
  const value = (key: string) => settings.get(key)?.value;
  const isLogin = value("protocol") === "namecheap" || /\bdedyn\.io$/.test(value("server") ?? "");
  return value("zone") ?? value("root-domain") ?? (isLogin ? value("login") : undefined);
}

const dyndns2 =
  (usual: string): Protocol =>
  (settings) => {
    const server = settings.get("server")?.value ?? usual;
    const script = settings.get("script")?.value ?? "/nic/update";
    return dyndns2At(server, script, {
      user: settings.get("login")?.value,
      password: settings.get("password")?.value,
    });
  };

const hosted =
  (api: string): Protocol =>
  (settings) =>
    withToken(api, settings.get("password")?.value);

const protocols: Readonly<Record<string, Protocol>> = {
  dyndns2: dyndns2("members.dyndns.org"),
  noip: dyndns2("dynupdate.no-ip.com"),
  ovh: dyndns2("dns.eu.ovhapis.com"),
  infomaniak: dyndns2("infomaniak.com"),
  inwx: dyndns2("dyndns.inwx.com"),
  "ddns.fm": dyndns2("api.ddns.fm"),
  dyndns1: dyndns2("members.dyndns.org"),
  cloudns(settings) {
    const [, token] = /[?&]q=([^&]+)/.exec(settings.get("dynurl")?.value ?? "") ?? [];
    return withToken("cloudns", token === undefined ? undefined : decodeURIComponent(token));
  },
  digitalocean: hosted("digitalocean"),
  namecheap: hosted("namecheap"),
  hetzner(settings, around) {
    around.notes.assumed(settings.get("password")?.line ?? 1, hetznerToken);
    return hosted("hetzner")(settings, around);
  },
  cloudflare(settings, around) {
    const login = settings.get("login")?.value ?? "token";
    if (login === "token") return hosted("cloudflare")(settings, around);
    return "moor needs an API token, not the global API key; create one, and set `login=token` and `password=` to it";
  },
  gandi(settings, around) {
    if (settings.get("use-personal-access-token")?.value === "yes") return hosted("gandi")(settings, around);
    return "moor needs a personal access token, not the older API key; create one, and set `use-personal-access-token=yes`";
  },
  godaddy(settings) {
    const [key, secret] = [settings.get("login")?.value, settings.get("password")?.value];
    return key && secret ? part("godaddy", {}, { key, secret }) : "it has no login (the key) or no password";
  },
  porkbun(settings) {
    const [key, secret] = [settings.get("apikey")?.value, settings.get("secretapikey")?.value];
    return key && secret ? part("porkbun", {}, { key, secret }) : "it has no apikey or no secretapikey";
  },
  nsupdate(settings, { readFile }) {
    const [server, file] = [settings.get("server")?.value, settings.get("password")?.value];
    if (server === undefined) return "it has no server";
    if (file === undefined) return "it names no key file; moor signs its updates (TSIG)";
    const keyFile = readFile(file);
    if (keyFile === undefined) return `its key file ${file} cannot be read; run the import as a user that may read it`;
    return { kind: "rfc2136", settings: { server }, files: { keyFile } };
  },
};

/** With the certificates of `ssl_ca_file`. */
function withAuthorities(target: ImportedPart, settings: HostSettings, { readFile }: Around): ImportedTarget {
  const file = settings.get("ssl_ca_file")?.value;
  if (file === undefined || target.kind === "rfc2136") return target;
  const ca = readFile(file);
  return ca === undefined ? `its ssl_ca_file ${file} cannot be read` : { ...target, files: { ...target.files, ca } };
}
