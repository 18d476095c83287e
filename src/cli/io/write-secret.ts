import { readFileSync, type Stats, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { asNewFile, replaceFile } from "../../process/data-folder.ts";
import type { CommandIo } from "./command-io.ts";

/** Where to write a secret. */
export type SecretPlace = { readonly file: string; readonly isNew: boolean };

/**
 * Checked before a secret is created, so that none in use is overwritten. Only an empty file, as from mktemp, or one
 * that matches `mayHold` is replaced. Undefined if the secret is to be shown.
 */
export function placeOf(
  { to }: { readonly to?: string },
  io: CommandIo,
  mayHold?: RegExp,
): SecretPlace | "taken" | undefined {
  if (to === undefined) return undefined;
  if (to === "-") {
    io.err("- is not a file; omit --to to show the secret.\n");
    return "taken";
  }
  const file = resolve(io.cwd, to);
  try {
    const there = statSync(file, { throwIfNoEntry: false });
    if (there === undefined) return { file, isNew: true };
    if (there.isFile() && (there.size === 0 || mayHold?.test(readFileSync(file, "utf8"))))
      return { file, isNew: false };
    io.err(`${to} ${whyTaken(there)}.\n`);
    return "taken";
  } catch (error) {
    throw new Error(whyNot(file, error as NodeJS.ErrnoException), { cause: error });
  }
}

/** If the file cannot be written, nobody has the secret, so `revoke` makes it invalid again. */
export async function writeSecretOr(
  revoke: () => unknown,
  { file, isNew }: SecretPlace,
  content: string,
): Promise<void> {
  try {
    const put = () => replaceFile(file, content);
    await (isNew ? asNewFile(file, put) : put());
  } catch (error) {
    await revoke();
    const because = whyNot(file, error as NodeJS.ErrnoException);
    throw new Error(`${because}. The new secret was revoked.`, { cause: error });
  }
}

function whyTaken(there: Stats): string {
  if (there.isDirectory()) return "is a folder; give a new file in it";
  return there.isFile()
    ? "already exists, and may contain a secret in use; give another file, or remove that one"
    : "is not a regular file; give a new one, or omit --to to show the secret";
}

const whyNot = (file: string, { code, message }: NodeJS.ErrnoException): string =>
  code === "ENOENT"
    ? `there is no folder ${dirname(file)}; create it first, or give another path`
    : `${file} cannot be written (${code ?? message}); give another path`;
