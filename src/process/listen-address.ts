import { networkInterfaces } from "node:os";

export type ListenAddress = { readonly host: string; readonly port: number };

export const urlOf = ({ host, port }: ListenAddress, scheme = "https"): string =>
  `${scheme}://${bracketed(host)}:${port}`;

/** A host as it stands before a port. */
export const bracketed = (host: string): string => (host.includes(":") ? `[${host}]` : host);

const everywhere: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** Where a client on this machine finds it: everywhere is no place to go to, and no certificate names it. */
export const hereOf = ({ host, port }: ListenAddress): ListenAddress => ({ host: everywhere[host] ?? host, port });

/** In words for people, beside the address of hereOf. */
export const alsoAt = ({ host }: ListenAddress): string =>
  host in everywhere ? ", and on every other address of this machine" : "";

/** The addresses by which a server is called that listens there: everywhere means any of the machine's own. */
export function addressesOf({ host }: ListenAddress): readonly string[] {
  if (!(host in everywhere)) return [host];
  return Object.values(networkInterfaces())
    .flatMap((addresses = []) => addresses)
    .filter(({ family, scopeid }) => family === "IPv4" || scopeid === 0)
    .map(({ address }) => address);
}

/** In people's words why it was not possible to listen there. */
export function listenTrouble(
  error: NodeJS.ErrnoException,
  { host, port }: ListenAddress,
  option = "--listen",
): string {
  switch (error.code) {
    case "EADDRINUSE":
      return `port ${port} on ${host} is in use by another program; stop that one, or choose another with ${option} HOST:PORT`;
    case "EACCES":
      return `port ${port} on ${host} needs special permission; choose one above 1023 with ${option} HOST:PORT`;
    case "EADDRNOTAVAIL":
      return `this machine has no address ${host}; choose one of its own with ${option} HOST:PORT`;
    case "ENOTFOUND":
      return `${host} is no address or name of this machine; ${addressTodo(port, option)}`;
    case "EAI_AGAIN":
      return `${host} is no address, and DNS does not answer for such a name now; ${addressTodo(port, option)}`;
    default:
      return `cannot listen on ${host} port ${port}: ${error.message}`;
  }
}

const addressTodo = (port: number, option: string): string =>
  `choose one with ${option} HOST:PORT: 127.0.0.1:${port} for this machine alone, ` +
  `0.0.0.0:${port} or [::]:${port} for all of its addresses`;
