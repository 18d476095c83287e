import { existsSync, readFileSync, type Stats, statSync } from "node:fs";
import { access, constants } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { asNewFile, replaceFile } from "../../process/data-folder.ts";
import type { CommandIo } from "./command-io.ts";

/** Where a secret is to go. */
export type SecretPlace = { readonly file: string; readonly isNew: boolean };

/**
 * Asked before a secret is made: one that is overwritten is lost to whoever uses it. Only a file that is empty, as mktemp makes
 * it, or holds what it `mayHold`, is replaced. Undefined where the secret is to be shown.
 */
export function placeOf(
  { to }: { readonly to?: string },
  io: CommandIo,
  mayHold?: RegExp,
): SecretPlace | "taken" | undefined {
  if (to === undefined) return undefined;
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

/** What opens something and was seen by nobody is of no use to anyone: it is made void again when the file cannot be written. */
export async function writeSecretOr(
  makeVoid: () => unknown,
  { file, isNew }: SecretPlace,
  content: string,
): Promise<void> {
  try {
    const put = () => replaceFile(file, content);
    await (isNew ? asNewFile(file, put) : put());
  } catch (error) {
    await makeVoid();
    const because = whyNot(file, error as NodeJS.ErrnoException);
    throw new Error(`${because}. What was made is void again.`, { cause: error });
  }
}

function whyTaken(there: Stats): string {
  if (there.isDirectory()) return "is a folder; name a new file in it";
  return there.isFile()
    ? "is there already, and may hold a secret in use; choose another file, or remove that one"
    : "is no file; name a new one, or leave --to out to have it shown";
}

/** For what makes more than the secret: asked before anything is made. */
export async function mustBeWritable(file: string): Promise<void> {
  if (existsSync(file)) throw new Error(`${file} is there already; name a new file`);
  try {
    // With a dot at its end only a folder is there.
    await access(`${dirname(file)}/.`, constants.W_OK);
  } catch (error) {
    throw new Error(whyNot(file, error as NodeJS.ErrnoException), { cause: error });
  }
}

const whyNot = (file: string, { code, message }: NodeJS.ErrnoException): string =>
  code === "ENOENT"
    ? `there is no folder ${dirname(file)}; make it first, or name another place`
    : `${file} cannot be written (${code ?? message}); name another place`;
