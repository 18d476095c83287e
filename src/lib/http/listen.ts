import type { Server, Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { bracketed } from "../../core/addresses/address.ts";
import type { Logger } from "../../process/log.ts";
import { ConnectionLimit, type ConnectionPermit, partOfFiles } from "../limits/connection-limit.ts";

export type ListenAddress = { readonly host: string; readonly port: number };

export const urlOf = ({ host, port }: ListenAddress, scheme = "https"): string =>
  `${scheme}://${bracketed(host)}:${port}`;

const everywhere: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/**
 * Where a client on this machine finds the server: a wildcard address cannot be connected to, and no certificate names
 * it.
 */
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

/** Listens, or fails with a message that says what to do. */
export async function listenOn(server: Server, at: ListenAddress, option?: string): Promise<ListenAddress> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(at.port, at.host, resolve);
  try {
    await promise;
  } catch (error) {
    throw new Error(listenTrouble(error as NodeJS.ErrnoException, at, option), { cause: error });
  } finally {
    server.off("error", reject);
  }
  return boundTo(server, at);
}

/** Where the server listens: port 0 has become a real port. */
export function boundTo(server: Server, { host, port }: ListenAddress): ListenAddress {
  const bound = server.address();
  return { host, port: typeof bound === "object" && bound !== null ? bound.port : port };
}

/** A web page can reach a local port under any name that resolves here (DNS rebinding); these names are safe. */
export const isLoopbackName = (host = ""): boolean => /^(localhost|127(?:\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(host);

const openOf = new WeakMap<Server, Set<Socket>>();

const permits = new WeakMap<Socket, ConnectionPermit>();

/** No source may have more than a quarter, and never more than 2,000. */
export function createConnectionLimit(log: Pick<Logger, "warn"> | undefined, atMost: number): ConnectionLimit {
  const all = partOfFiles(2, atMost);
  return new ConnectionLimit({ all, source: Math.min(2_000, Math.ceil(all / 4)) }, log);
}

/** Call this before the server listens. `isProxy`: its connections are those of many clients. */
export function limitConnections(
  server: Server,
  limit: ConnectionLimit,
  isProxy: (peer: string) => boolean = () => false,
): void {
  const open = new Set<Socket>();
  openOf.set(server, open);
  server.on("connection", (socket: Socket) => {
    const { remoteAddress: peer = "" } = socket;
    const permit = limit.enter(peer, () => socket.destroy(), isProxy(peer));
    if (permit === undefined) return void socket.destroy();
    permits.set(socket, permit);
    open.add(socket);
    socket.once("close", () => {
      open.delete(socket);
      permit.leave();
    });
  });
}

/** The permit of a connection, whether or not it speaks TLS. */
export const permitOf = (socket: Socket & { readonly _parent?: Socket | null }): ConnectionPermit | undefined =>
  permits.get(socket._parent ?? socket);

/** Node's `closeAllConnections` skips connections whose TLS handshake has not finished, and `close` waits for them. */
export function cutAllConnections(server: Server): void {
  for (const socket of openOf.get(server) ?? []) socket.destroy();
}
