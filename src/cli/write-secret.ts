import { existsSync, type Stats, statSync } from "node:fs";
import { access, constants, open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { replaceFile } from "../process/data-folder.ts";
import type { CommandIo } from "./command-io.ts";

/** What opens something and was seen by nobody is of no use to anyone: it is made void again when the file cannot be written. */
export async function writeSecretOr(makeVoid: () => unknown, file: string, content: string): Promise<void> {
  try {
    await writeNew(file, content);
  } catch (error) {
    await makeVoid();
    throw new Error(`${whyNot(file, error as NodeJS.ErrnoException)}. What was made is void again.`, { cause: error });
  }
}

/** The name is taken first, so that no other command's secret is lost that is written at the same time. */
async function writeNew(file: string, content: string): Promise<void> {
  await (await open(file, "wx", 0o600)).close();
  try {
    await replaceFile(file, content);
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
}

/** Asked before a secret is made: one that is overwritten is lost to whoever uses it. */
export function tellTaken(file: string | undefined, { to }: { readonly to?: string }, io: CommandIo): boolean {
  const there = file === undefined ? undefined : whatIsAt(file);
  if (there === undefined) return false;
  io.err(`${to} ${whyTaken(there)}.\n`);
  return true;
}

function whatIsAt(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch (error) {
    throw new Error(whyNot(file, error as NodeJS.ErrnoException), { cause: error });
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
