import { X509Certificate } from "node:crypto";
import { type ConnectionOptions, connect, type DetailedPeerCertificate, type TLSSocket } from "node:tls";
import { visible } from "../../core/visible-text.ts";
import { describeTransportFault } from "./transport-faults.ts";

/** The certificate that a server presents, trusted or not. */
export type ShownCertificate = {
  /** SHA-256, `AB:CD:…`. */
  readonly fingerprint: string;
  readonly subject: string;
  readonly issuer: string;
  readonly validTo: string;
  /** Why it would not be trusted; undefined if a well-known authority signed it. */
  readonly doubt: string | undefined;
  /** The private authority in its chain, if trusting that is enough: it outlives the certificate. */
  readonly authority?: { readonly pem: string; readonly fingerprint: string };
};

/** Throws a readable error if no TLS server answers. Sends only the TLS handshake. */
export async function fetchCertificate(url: URL, signal: AbortSignal, limit = 10_000): Promise<ShownCertificate> {
  const connect = <T>(options: ConnectionOptions, see: (socket: TLSSocket) => T) =>
    greet(url, options, see, signal, limit);
  const { certificate, doubt } = await connect({}, (socket) => ({
    certificate: socket.getPeerCertificate(true),
    doubt: socket.authorized ? undefined : String(socket.authorizationError),
  }));
  const root = doubt === undefined ? undefined : rootOf(certificate);
  const isEnoughToTrust = root && (await connect({ ca: root.toString() }, ({ authorized }) => authorized));
  return {
    fingerprint: certificate.fingerprint256,
    subject: nameIn(certificate.subject),
    issuer: nameIn(certificate.issuer),
    validTo: certificate.valid_to,
    doubt,
    ...(isEnoughToTrust && { authority: { pem: root.toString(), fingerprint: root.fingerprint256 } }),
  };
}

/** The last certificate of the chain, if it is a self-signed authority and not the server's certificate. */
function rootOf(leaf: DetailedPeerCertificate): X509Certificate | undefined {
  let last = leaf;
  for (let length = 0; length < 10; length++) {
    const above: DetailedPeerCertificate | undefined = last.issuerCertificate;
    if (above === undefined || above.fingerprint256 === last.fingerprint256) break;
    last = above;
  }
  if (last === leaf) return undefined;
  const root = new X509Certificate(last.raw);
  return root.ca && root.checkIssued(root) ? root : undefined;
}

function greet<T>(
  url: URL,
  options: ConnectionOptions,
  see: (socket: TLSSocket) => T,
  signal: AbortSignal,
  limit: number,
): Promise<T> {
  const host = url.hostname.replaceAll(/[[\]]/g, "");
  return new Promise((resolve, reject) => {
    const isName = /[a-z]/i.test(host) && !host.includes(":");
    const socket = connect({
      ...options,
      host,
      port: Number(url.port) || 443,
      rejectUnauthorized: false,
      ...(isName && { servername: host }),
    });
    const end = (act: () => void) => {
      signal.removeEventListener("abort", stop);
      socket.destroy();
      act();
    };
    const fail = (error: { readonly code?: string }) => {
      const limits = { timeoutMs: limit, maxBytes: 0 };
      const { because, todo } = describeTransportFault(error, { url, trust: { kind: "system" } }, limits);
      end(() => reject(new Error(`${because}; ${todo}`, { cause: error })));
    };
    const stop = () => fail({ code: "MOOR_STOPPED" });
    signal.addEventListener("abort", stop, { once: true });
    socket.setTimeout(limit, () => fail({ code: "ETIMEDOUT" }));
    socket.once("error", fail);
    socket.once("secureConnect", () => {
      const seen = see(socket);
      end(() => resolve(seen));
    });
  });
}

/** Printed above the fingerprint: control characters must not overwrite that. */
const nameIn = ({ CN, O }: DetailedPeerCertificate["subject"]) => visible([CN ?? O ?? "nobody"].flat().join(", "));
