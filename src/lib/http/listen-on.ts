import type { Server } from "node:net";
import { type ListenAddress, listenTrouble } from "../../process/listen-address.ts";

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
