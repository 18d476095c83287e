import { resolve } from "node:path";
import type { Command } from "commander";
import type { CertificateFiles } from "../../lib/tls/material.ts";
import type { CommandIo } from "./command-io.ts";
import { readPath } from "./options.ts";

export type CertificateOptions = { readonly cert?: string; readonly key?: string };

export function certificateOptions(command: Command): Command {
  return command
    .option(
      "--cert <file>",
      "your own certificate (PEM, with its chain), instead of one from the private authority",
      readPath,
    )
    .option("--key <file>", "the key of that certificate; both are read again when they change", readPath);
}

/** "half" if only one of the two is given, after printing that. */
export function readCertificate(
  { cert, key }: CertificateOptions,
  io: CommandIo,
): { readonly certificate?: CertificateFiles } | "half" {
  if (cert !== undefined && key !== undefined) {
    return { certificate: { cert: resolve(io.cwd, cert), key: resolve(io.cwd, key) } };
  }
  if (cert === undefined && key === undefined) return {};
  io.err("--cert and --key go together: give both, or neither.\n");
  return "half";
}
