import { networkInterfaces } from "node:os";

export type ListenAddress = { readonly host: string; readonly port: number };

export const urlOf = ({ host, port }: ListenAddress, scheme = "https"): string =>
  `${scheme}://${bracketed(host)}:${port}`;

/** A host as it is written before a port. */
export const bracketed = (host: string): string => (host.includes(":") ? `[${host}]` : host);

const everywhere: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** Where a client on this machine finds the server: a wildcard address cannot be connected to, and no certificate names it. */
export const hereOf = ({ host, port }: ListenAddress): ListenAddress => ({ host: everywhere[host] ?? host, port });

/** Text to append to the address of hereOf. */
export const alsoAt = ({ host }: ListenAddress): string =>
  host in everywhere ? ", and on every other address of this machine" : "";

/** The addresses of a server that listens there: a wildcard means all addresses of the machine. */
export function addressesOf({ host }: ListenAddress): readonly string[] {
  if (!(host in everywhere)) return [host];
  return Object.values(networkInterfaces())
    .flatMap((addresses = []) => addresses)
    .filter(({ family, scopeid }) => family === "IPv4" || scopeid === 0)
    .map(({ address }) => address);
}

/** Why it was not possible to listen there, and what to do. */
export function listenTrouble(
  error: NodeJS.ErrnoException,
  { host, port }: ListenAddress,
  option = "--listen",
): string {
  switch (error.code) {
    case "EADDRINUSE":
      return `port ${port} on ${host} is in use by another program; stop it, or choose another port with ${option} HOST:PORT`;
    case "EACCES":
      return `port ${port} on ${host} needs special permission; choose one above 1023 with ${option} HOST:PORT`;
    case "EADDRNOTAVAIL":
      return `this machine does not have the address ${host}; choose one that it has with ${option} HOST:PORT`;
    case "ENOTFOUND":
      return `${host} is not an address or name of this machine; ${addressTodo(port, option)}`;
    case "EAI_AGAIN":
      return `${host} is not an address, and DNS does not answer for it as a name; ${addressTodo(port, option)}`;
    default:
      return `cannot listen on ${host} port ${port}: ${error.message}`;
  }
}

const addressTodo = (port: number, option: string): string =>
  `choose one with ${option} HOST:PORT: 127.0.0.1:${port} for this machine only, ` +
  `0.0.0.0:${port} or [::]:${port} for all its addresses`;
