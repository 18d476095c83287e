import { connect, type PeerCertificate } from "node:tls";

/** The certificate that a server shows, whether or not anybody vouches for it. */
export type ShownCertificate = {
  /** SHA-256, `AB:CD:…`. */
  readonly fingerprint: string;
  readonly subject: string;
  readonly issuer: string;
  readonly validTo: string;
  /** Why it would not be believed; undefined when the well-known authorities vouch for it. */
  readonly doubt: string | undefined;
};

/** Throws when nobody answers there with TLS. Nothing but the greeting is sent. */
export function fetchCertificate(url: URL, signal: AbortSignal, limit = 10_000): Promise<ShownCertificate> {
  const host = url.hostname.replaceAll(/[[\]]/g, "");
  return new Promise((resolve, reject) => {
    const isName = /[a-z]/i.test(host) && !host.includes(":");
    const socket = connect({
      ...{ host, port: Number(url.port) || 443, rejectUnauthorized: false },
      ...(isName ? { servername: host } : {}),
    });
    const end = (act: () => void) => {
      signal.removeEventListener("abort", stop);
      socket.destroy();
      act();
    };
    const stop = () => end(() => reject(new Error("stopped")));
    signal.addEventListener("abort", stop, { once: true });
    socket.setTimeout(limit, () => end(() => reject(new Error(`${url.host} did not answer within ${limit / 1000} s`))));
    socket.once("error", (error) => end(() => reject(error)));
    socket.once("secureConnect", () => {
      const certificate = socket.getPeerCertificate();
      const doubt = socket.authorized ? undefined : String(socket.authorizationError);
      end(() => resolve(shown(certificate, doubt)));
    });
  });
}

const shown = (certificate: PeerCertificate, doubt: string | undefined): ShownCertificate => ({
  fingerprint: certificate.fingerprint256,
  subject: nameIn(certificate.subject),
  issuer: nameIn(certificate.issuer),
  validTo: certificate.valid_to,
  doubt,
});

const nameIn = ({ CN, O }: PeerCertificate["subject"]) => [CN ?? O ?? "nobody"].flat().join(", ");
