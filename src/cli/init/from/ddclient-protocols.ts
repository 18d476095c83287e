import type { HostSettings } from "./ddclient-file.ts";
import type { Notes, Part } from "./imported.ts";
import { dyndns2At, hetznerToken, withToken } from "./services.ts";

/** A text says why moor cannot do the same. */
export type Found = { readonly part: Part; readonly hasTtl: boolean } | string;

type Protocol = (
  host: string,
  settings: HostSettings,
  notes: Notes,
  readFile: (path: string) => string | undefined,
) => Found;

/** How a host is updated; ddclient's default is dyndns2. */
export function protocolOf(settings: HostSettings): Protocol {
  const name = settings.get("protocol")?.value.toLowerCase() ?? "dyndns2";
  return protocols[name] ?? (() => `moor has no target for protocol=${name}`);
}

const dyndns2 =
  (usual: string): Protocol =>
  (_, settings, __, readFile) => {
    const server = settings.get("server")?.value ?? usual;
    const script = settings.get("script")?.value ?? "/nic/update";
    const login = { user: settings.get("login")?.value, password: settings.get("password")?.value };
    return found(dyndns2At(server, script, login), settings, readFile, false);
  };

const hosted =
  (api: string, note?: string): Protocol =>
  (_, settings, notes, readFile) => {
    const { value: token, line = 0 } = settings.get("password") ?? {};
    if (note !== undefined) notes.assumed(line, note);
    return found(withToken(api, token), settings, readFile, true);
  };

const protocols: Readonly<Record<string, Protocol>> = {
  dyndns2: dyndns2("members.dyndns.org"),
  noip: dyndns2("dynupdate.no-ip.com"),
  ovh: dyndns2("dns.eu.ovhapis.com"),
  infomaniak: dyndns2("infomaniak.com"),
  inwx: dyndns2("dyndns.inwx.com"),
  hetzner: hosted("hetzner", hetznerToken),
  cloudflare(host, settings, notes, readFile) {
    const login = settings.get("login")?.value ?? "token";
    if (login !== "token")
      return "moor needs an API token, not the global API key; create one, and set `login=token` and `password=` to it";
    return hosted("cloudflare")(host, settings, notes, readFile);
  },
  nsupdate(_, settings, __, readFile) {
    const [server, file] = [settings.get("server")?.value, settings.get("password")?.value];
    if (server === undefined) return "it has no server";
    if (file === undefined) return "it names no key file; moor signs its updates (TSIG)";
    const key = readFile(file);
    if (key === undefined) return `its key file ${file} cannot be read; run the import as a user that may read it`;
    return { part: { kind: "rfc2136", settings: { server }, files: { keyFile: key } }, hasTtl: true };
  },
};

/** With the certificates of `ssl_ca_file`. */
function found(
  target: Part | string,
  settings: HostSettings,
  readFile: (path: string) => string | undefined,
  hasTtl: boolean,
): Found {
  if (typeof target === "string") return target;
  const file = settings.get("ssl_ca_file")?.value;
  const ca = file === undefined ? undefined : readFile(file);
  if (file !== undefined && ca === undefined) return `its ssl_ca_file ${file} cannot be read`;
  return { part: ca === undefined ? target : { ...target, files: { ca } }, hasTtl };
}
