import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import type { OidcSettings } from "../../access/oidc/settings.ts";
import { fail, type Result } from "../../core/result.ts";
import type { CommandIo } from "./command-io.ts";
import { readPath } from "./options.ts";
import { printFaults } from "./print-faults.ts";

export type OidcFlags = { readonly oidc?: string };

export const oidcOption = (command: Command): Command =>
  command.option(
    "--oidc <file>",
    "a file that describes the identity provider (OpenID Connect) to sign in at",
    readPath,
  );

/** The settings in the file that `--oidc` names; `refused` after printing everything that is wrong with them. */
export async function readOidc({ oidc }: OidcFlags, io: CommandIo): Promise<{ oidc?: OidcSettings } | "refused"> {
  if (oidc === undefined) return {};
  const read = await readOidcFile(oidc, io);
  if (read.ok) return { oidc: read.value };
  printFaults(read.faults, io);
  return "refused";
}

/** The YAML library is loaded only if there is a file. */
async function readOidcFile(file: string, io: CommandIo): Promise<Result<OidcSettings>> {
  const path = resolve(io.cwd, file);
  const content = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => error);
  if (content instanceof Error) {
    const message = `it cannot be read (${content.code})`;
    return fail({ code: "unreadable", where: file, message, todo: "correct --oidc" });
  }
  const { readText } = await import("../../lib/settings/setting.ts");
  const { oidcSettings } = await import("../../updater/config/outlets.ts");
  return readText(oidcSettings, content, file, {
    env: io.env,
    resolve: (relative) => resolve(dirname(path), relative),
    warn: (text) => io.err(`${file}: ${text}\n`),
  });
}
