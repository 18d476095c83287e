import { networkInterfaces } from "node:os";
import { resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { parseMailbox } from "../../core/names/mailbox.ts";
import type { AcmeCertificate } from "../../lib/acme/keep-certificate.ts";
import type { AcmeOptions } from "../../lib/acme/obtain-certificate.ts";
import { letsEncrypt, namesToOrder } from "../../lib/acme/plan.ts";
import type { ListenAddress } from "../../lib/http/listen.ts";
import { readFileIfThere } from "../../process/data-folder.ts";
import { type CommandIo, refuse } from "./command-io.ts";
import { readListen, readPath } from "./options.ts";

export type AcmeFlags = {
  /** A mail address. */
  readonly acme?: string;
  readonly acmeDirectory?: string;
  readonly acmeCa?: string;
  readonly acmeHttp?: ListenAddress;
};

export function acmeOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--acme <mail>",
        "get a certificate for --name from Let's Encrypt and renew it; you agree to its terms of service",
      )
        .argParser(readMail)
        .conflicts(["cert", "key", "plainHttp"]),
    )
    .option(
      "--acme-directory <url>",
      "the directory of another ACME authority, instead of Let's Encrypt",
      readDirectory,
    )
    .option(
      "--acme-ca <file>",
      "the CA certificate (PEM) to trust when connecting to --acme-directory, instead of the public ones",
      readPath,
    )
    .option(
      "--acme-http <host:port>",
      "where to answer HTTP-01 challenges while a certificate is ordered (default: port 80 on all addresses)",
      readListen,
    );
}

/** "refused" after printing why. */
export async function readAcme(
  flags: AcmeFlags,
  names: readonly string[],
  io: CommandIo,
): Promise<{ readonly acme?: AcmeOptions } | "refused"> {
  const refused = (why: string) => {
    refuse(2, why, io);
    return "refused" as const;
  };
  const { acme: mail, acmeDirectory: directory = letsEncrypt, acmeCa: file } = flags;
  if (mail === undefined) {
    const alone = flags.acmeDirectory ?? file ?? flags.acmeHttp;
    return alone === undefined ? {} : refused("--acme-directory, --acme-ca and --acme-http need --acme MAIL");
  }
  const ordered = namesToOrder(names, directory);
  if (ordered.length === 0) return refused(noName);
  const trust = file === undefined ? undefined : await readFileIfThere(resolve(io.cwd, file));
  if (file !== undefined && !trust?.includes("-----BEGIN CERTIFICATE-----"))
    return refused(`--acme-ca: ${file} is not a file with a certificate in PEM`);
  return { acme: { mail, directory, trust, names: ordered, http: flags.acmeHttp ?? { host: everywhere(), port: 80 } } };
}

/** The URL to show: with the name that browsers accept the certificate for. */
export function publicUrl(acme: AcmeCertificate | undefined, url: string): string {
  const name = acme?.names.find((each) => !each.startsWith("*"));
  return name === undefined ? url : new URL(`https://${name}:${new URL(url).port || 443}`).origin;
}

export function describeAcme(acme: AcmeCertificate, url: string): string {
  const until = acme.expires()?.toISOString();
  const when = until
    ? `need no ca.pem: its certificate is valid until ${until}`
    : "will need no ca.pem once the log says that its certificate is in use";
  return `Clients of ${publicUrl(acme, url)} ${when}\n`;
}

/** `::` accepts connections over IPv4 too, but does not work on a machine without IPv6. */
const everywhere = (): string =>
  Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ family }) => family === "IPv6"))
    ? "::"
    : "0.0.0.0";

const noName =
  "--acme needs the public name by which clients reach this service: give it with --name, such as --name dns.example.org";

function readMail(text: string): string {
  if (!parseMailbox(text).ok) throw new InvalidArgumentError("It must be a mail address, such as you@example.org.");
  return text;
}

function readDirectory(text: string): string {
  if (URL.parse(text)?.protocol !== "https:")
    throw new InvalidArgumentError(
      "It must be an https URL, such as https://acme-staging-v02.api.letsencrypt.org/directory.",
    );
  return text;
}
