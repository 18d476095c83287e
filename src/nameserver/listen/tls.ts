import type { Socket } from "node:net";
import { createServer, type TLSSocket, type TlsOptions } from "node:tls";
import type { Pair } from "../../lib/tls/issue-certificate.ts";
import { dotProtocol } from "../../lib/tls/tls-peer.ts";

/** The certificate of the nameserver, and its renewals. */
export type ServerTls = {
  readonly pair: Pair;
  readonly follow: (use: (pair: Pair) => void) => void;
  readonly SNICallback?: TlsOptions["SNICallback"];
};

/** Milliseconds for the handshake. */
const handshakeTimeout = 10_000;

/**
 * Speaks TLS on accepted connections and hands over those that agree on `dot`. RFC 9103 requires TLS 1.3 for transfers;
 * clients that only query may be older (RFC 7858).
 */
export function createTlsWrap({
  pair,
  follow,
  SNICallback,
}: ServerTls): (raw: Socket, serve: (socket: Socket) => void) => void {
  const secure = { minVersion: "TLSv1.2" as const };
  const server = createServer({
    ...pair,
    ...secure,
    handshakeTimeout,
    ALPNProtocols: [dotProtocol],
    ...(SNICallback && { SNICallback }),
  });
  follow((next) => server.setSecureContext({ ...next, ...secure }));
  const waiting = new Map<string, (socket: Socket) => void>();
  server.on("secureConnection", (socket: TLSSocket) => {
    const serve = waiting.get(keyOf(socket));
    if (serve === undefined || socket.alpnProtocol !== dotProtocol) return void socket.destroy();
    return serve(socket);
  });
  // A client that cannot agree is disconnected by Node.
  server.on("tlsClientError", (_, socket) => socket.destroy());
  return (raw, serve) => {
    const key = keyOf(raw);
    waiting.set(key, serve);
    raw.on("close", () => waiting.delete(key));
    raw.on("error", () => raw.destroy());
    server.emit("connection", raw);
  };
}

const keyOf = ({ remoteAddress, remotePort, localPort }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localPort}`;
