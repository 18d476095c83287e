import { fetchCertificate } from "../../lib/http-client/fetch-certificate.ts";
import type { CommandIo } from "../io/command-io.ts";
import { type Asker, type InitQuestion, NoAnswer, WrongAnswer } from "./asker.ts";
import type { ShownTrust } from "./files.ts";

type WhichUrl = InitQuestion & { readonly example: string };

/** Shows the certificate of a service if it is in doubt, and asks whether to trust it. */
export type TrustAsker = (url: URL) => Promise<ShownTrust>;

export async function askUrl(which: WhichUrl, asker: Asker): Promise<URL> {
  const fault = (text: string) => {
    if (isWebUrl(text)) return undefined;
    const meant = `https://${text}`;
    return `${text} is not a URL; write ${isWebUrl(meant) && !text.includes("/") ? meant : which.example}`;
  };
  return new URL(await asker.text({ ...which, fault }));
}

const isWebUrl = (text: string) => URL.canParse(text) && /^https?:/.test(text);

/**
 * Trusts the system's authorities if they signed the certificate, or if there is no certificate. Otherwise trusts the
 * private authority that is sent with it, because the certificate itself will be renewed; without one, the certificate.
 * Asks only once per certificate. `flag` is the option for its fingerprint.
 */
export function createTrustAsker(
  flag: string,
  cliFingerprint: string | undefined,
  asker: Asker,
  io: CommandIo,
): TrustAsker {
  const trusted = new Map<string, ShownTrust>();
  return async (url) => {
    if (url.protocol === "http:") return { kind: "system" };
    const shown = await fetchCertificate(url, io.signal).catch((error: unknown) => {
      throw new WrongAnswer((error as Error).message);
    });
    if (shown.doubt === undefined) return { kind: "system" };
    const id = `${url.host} ${shown.fingerprint}`;
    const trust = trusted.get(id) ?? (await askToTrust(url, shown, { flag, cliFingerprint, asker, io }));
    trusted.set(id, trust);
    return trust;
  };
}

type Shown = Awaited<ReturnType<typeof fetchCertificate>>;

type Asking = {
  readonly flag: string;
  readonly cliFingerprint: string | undefined;
  readonly asker: Asker;
  readonly io: CommandIo;
};

async function askToTrust(url: URL, shown: Shown, { flag, cliFingerprint, asker, io }: Asking): Promise<ShownTrust> {
  const { authority, fingerprint } = shown;
  io.out(`${url.host} has a certificate that no well-known authority signed (${shown.doubt}):\n`);
  io.out(`  issued to    ${shown.subject}\n  signed by    ${shown.issuer}\n  valid until  ${shown.validTo}\n`);
  io.out(`  SHA-256      ${fingerprint}\n`);
  if (authority)
    io.out(`  SHA-256 of the authority that signed it, as moor ca shows it\n               ${authority.fingerprint}\n`);
  const plain = (text: string) => text.replaceAll(/[^0-9a-f]/gi, "").toUpperCase();
  const isGiven = (shownOne: string) => cliFingerprint !== undefined && plain(cliFingerprint) === plain(shownOne);
  if (cliFingerprint !== undefined && !isGiven(fingerprint) && !isGiven(authority?.fingerprint ?? "")) {
    throw new NoAnswer(
      `The certificate does not match ${flag}: it was renewed, or the connection is intercepted. Check the fingerprint at the service.`,
    );
  }
  const message = "Compare the fingerprint with the one that the service shows. Are they the same?";
  if (!(await asker.yes({ flag, cliValue: cliFingerprint, message, assumed: false })))
    throw new NoAnswer("The certificate is not trusted, so nothing was sent.");
  if (authority === undefined || isGiven(fingerprint)) return { kind: "fingerprint", sha256: fingerprint };
  return { kind: "ca", pem: authority.pem };
}
