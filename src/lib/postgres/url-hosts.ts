import { fail, ok, type Result } from "../../core/result.ts";

export type HostAndPort = { readonly host: string; readonly port: number };

type HostSources = {
  readonly url: URL;
  /** The hosts in the URL, if there are several, with their ports. */
  readonly listed: readonly string[];
  /** The only host in the URL, decoded. */
  readonly host: string;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** `URL` accepts only one host: several are taken out. A comma before the @ belongs to the password. */
export function splitHosts(text: string): { readonly single: string; readonly listed: readonly string[] } {
  const [, begin = "", hosts = "", end = ""] = /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/s.exec(text) ?? [];
  return hosts.includes(",")
    ? { single: `${begin}localhost${end}`, listed: hosts.split(",") }
    : { single: text, listed: [] };
}

/**
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-MULTIPLE-HOSTS: one port for all hosts, or one for
 * each.
 */
export function readHosts({ url, listed, host, env }: HostSources): Result<readonly HostAndPort[]> {
  const named = url.searchParams.get("host") ?? (url.hostname === "" ? env.PGHOST : undefined);
  const hosts = named?.split(",") ?? (listed.length > 0 ? listed.map(withoutPort) : [host]);
  // A list has a port for each of its hosts, if only the usual one.
  const inUrl = url.searchParams.get("port") ?? (listed.length > 0 ? listed.map(portOf).join(",") : url.port);
  const [ports, where] = inUrl === "" ? [(env.PGPORT ?? "").split(","), "PGPORT"] : [inUrl.split(","), "--database"];
  if (ports.length > 1 && ports.length !== hosts.length)
    return fault(`has ${ports.length} ports for ${hosts.length} hosts; give one port for all, or one for each`, where);
  const hostsWithPorts: HostAndPort[] = [];
  for (const [i, each] of hosts.entries()) {
    const port = Number((ports.length > 1 ? ports[i] : ports[0]) || "5432");
    if (!Number.isInteger(port) || port < 1 || port > 65_535)
      return where === "PGPORT"
        ? fault("must be a port from 1 to 65535", where)
        : fault("has an invalid port; a port is from 1 to 65535");
    hostsWithPorts.push({ host: each || "localhost", port });
  }
  return ok(hostsWithPorts);
}

const portOf = (entry: string): string => /(?<=:)[^:\]]*$/.exec(entry)?.[0] ?? "";
const withoutPort = (entry: string): string =>
  decodeURIComponent(entry.replace(/:[^:\]]*$/, "")).replace(/^\[(.*)\]$/, "$1");

const fault = (message: string, where = "--database"): Result<never> => fail({ code: "bad-database", where, message });
