import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { createServer, type Server } from "node:net";

/** The name localhost has two addresses on most machines, and who calls it may try either. */
export async function addressesOfHost(host: string): Promise<readonly string[]> {
  if (host !== "localhost") return [host];
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.length === 0 ? [host] : [...new Set(found.map(({ address }) => address))];
}

/**
 * Takes connections at other addresses into a server, whose own they are from then on. An address that cannot be listened on is
 * left out: the machine may have no IPv6.
 */
export async function listenInto(server: Server, hosts: readonly string[], port: number): Promise<readonly Server[]> {
  const listening: Server[] = [];
  for (const host of hosts) {
    const at = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => void server.emit("connection", socket));
    const isOpen = once(at.listen({ host, port }), "listening");
    await isOpen.then(
      () => listening.push(at),
      () => undefined,
    );
  }
  return listening;
}
