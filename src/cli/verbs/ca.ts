import { X509Certificate } from "node:crypto";
import { resolve } from "node:path";
import { caFileIn, readAuthorityCertificate } from "../../lib/tls/certificates.ts";
import type { CommandIo } from "../io/command-io.ts";

/** The certificate that clients import, and the fingerprint for comparing it. */
export async function ca(options: { readonly data: string; readonly pem?: boolean }, io: CommandIo): Promise<number> {
  const folder = resolve(io.cwd, options.data);
  const text = await readAuthorityCertificate(folder);
  if (text === undefined) {
    const { program } = io;
    io.err(
      `${folder} has no certificate authority yet; start ${program} records or ${program} firewall, which create it\n`,
    );
    return 1;
  }
  const certificate = new X509Certificate(text);
  if (!options.pem) {
    io.out(`file         ${caFileIn(folder)}\n`);
    io.out(`name         ${certificate.subject.replaceAll("\n", ", ")}\n`);
    io.out(`expires      ${certificate.validToDate.toISOString().slice(0, 10)}\n`);
    io.out(`SHA-256      ${certificate.fingerprint256}\n\n`);
  }
  io.out(text);
  return 0;
}
