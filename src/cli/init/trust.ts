import { fetchCertificate } from "../../updater/http/fetch-certificate.ts";
import type { CommandIo } from "../io/command-io.ts";
import { type Asker, NoAnswer, WrongAnswer } from "./asker.ts";
import type { ShownTrust } from "./files.ts";

type WhichUrl = {
  readonly flag: string;
  readonly given: string | undefined;
  readonly message: string;
  readonly example: string;
};

export async function askUrl(which: WhichUrl, asker: Asker): Promise<URL> {
  const fault = (text: string) => {
    if (isWebAddress(text)) return undefined;
    const meant = `https://${text}`;
    return `${text} is no web address; write ${isWebAddress(meant) && !text.includes("/") ? meant : which.example}`;
  };
  return new URL(await asker.text({ ...which, fault }));
}

const isWebAddress = (text: string) => URL.canParse(text) && /^https?:/.test(text);

/**
 * The well-known authorities, where they vouch for the certificate or there is none to look at. Else the private authority that is
 * shown with it, since a certificate is made anew in time; or, without one, the certificate itself. What was believed once is not
 * asked for again.
 */
export function createTrustAsker(
  which: "firewall" | "records",
  given: string | undefined,
  asker: Asker,
  io: CommandIo,
) {
  const believed = new Map<string, ShownTrust>();
  return async (url: URL): Promise<ShownTrust> => {
    if (url.protocol === "http:") return { kind: "system" };
    const shown = await fetchCertificate(url, io.signal).catch((error: unknown) => {
      throw new WrongAnswer((error as Error).message);
    });
    if (shown.doubt === undefined) return { kind: "system" };
    const id = `${url.host} ${shown.fingerprint}`;
    const trust = believed.get(id) ?? (await askToBelieve(url, shown, { which, given, asker, io }));
    believed.set(id, trust);
    return trust;
  };
}

type Shown = Awaited<ReturnType<typeof fetchCertificate>>;

type Asking = {
  readonly which: string;
  readonly given: string | undefined;
  readonly asker: Asker;
  readonly io: CommandIo;
};

async function askToBelieve(url: URL, shown: Shown, { which, given, asker, io }: Asking): Promise<ShownTrust> {
  const { authority, fingerprint } = shown;
  io.out(`${url.host} shows a certificate that no well-known authority vouches for (${shown.doubt}):\n`);
  io.out(`  made out to  ${shown.subject}\n  signed by    ${shown.issuer}\n  valid until  ${shown.validTo}\n`);
  io.out(`  SHA-256      ${fingerprint}\n`);
  if (authority) io.out(`  SHA-256 of who signed it, as moor ca shows it\n               ${authority.fingerprint}\n`);
  const flag = `--${which}-fingerprint`;
  const plain = (text: string) => text.replaceAll(/[^0-9a-f]/gi, "").toUpperCase();
  const isGiven = (shownOne: string) => given !== undefined && plain(given) === plain(shownOne);
  if (given !== undefined && !isGiven(fingerprint) && !isGiven(authority?.fingerprint ?? "")) {
    throw new NoAnswer(`${flag} says otherwise: somebody stands between, or it was renewed.`);
  }
  const message = "Compare it with the one that the service itself shows. Is it the same?";
  if (!(await asker.yes({ flag, given, message, assumed: false }))) throw new NoAnswer("Then nothing is sent there.");
  if (authority === undefined || isGiven(fingerprint)) return { kind: "fingerprint", sha256: fingerprint };
  return { kind: "ca", pem: authority.pem };
}
