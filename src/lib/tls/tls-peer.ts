import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect, isIP } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";

/**
 * How to reach another nameserver over TLS (RFC 9103). Without a pin, anybody may answer in its place, but nobody can
 * listen.
 */
export type PeerTls = {
  /** SHA-256 of the public key of its certificate (RFC 7858 section 4.2), in base64. */
  readonly pin?: string | undefined;
};

/** RFC 9103 section 7.1: the protocol that both sides agree on. */
export const dotProtocol = "dot";

/** The public key of a certificate, as a pin. */
export const pinOf = (publicKey: Uint8Array): string => createHash("sha256").update(publicKey).digest("base64");

/** A connection that is ready for messages. The handshake takes at most `limit` milliseconds. */
export async function connectOverTls(
  { host, port, from }: { readonly host: string; readonly port: number; readonly from?: string | undefined },
  { pin }: PeerTls,
  { signal, limit }: { readonly signal: AbortSignal; readonly limit: number },
): Promise<TLSSocket> {
  const raw = connect({ host, port, ...(from && { localAddress: from }) });
  const socket = connectTls({
    socket: raw,
    ALPNProtocols: [dotProtocol],
    minVersion: "TLSv1.3",
    // The pin decides, or nothing does: names of nameservers are not part of a zone's settings.
    rejectUnauthorized: false,
    ...(isIP(host) === 0 && { servername: host }),
  });
  try {
    await once(socket, "secureConnect", { signal: AbortSignal.any([signal, AbortSignal.timeout(limit)]) });
    // Older servers, such as NSD 4.6, choose no protocol at all.
    if (socket.alpnProtocol && socket.alpnProtocol !== dotProtocol)
      throw new Error("the server does not offer DNS over TLS");
    const key = socket.getPeerX509Certificate()?.publicKey.export({ type: "spki", format: "der" });
    if (pin !== undefined && (key === undefined || pinOf(key) !== pin))
      throw new Error(`the certificate has another key than the pinned one${key ? `: sha256/${pinOf(key)}` : ""}`);
    return socket;
  } catch (error) {
    socket.on("error", () => undefined);
    socket.destroy();
    raw.destroy();
    throw error;
  }
}
