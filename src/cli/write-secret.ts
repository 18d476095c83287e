import { existsSync } from "node:fs";
import { access, constants } from "node:fs/promises";
import { dirname } from "node:path";
import { replaceFile } from "../process/data-folder.ts";

/** What opens something and was seen by nobody is of no use to anyone: it is made void again when the file cannot be written. */
export async function writeSecretOr(makeVoid: () => unknown, file: string, content: string): Promise<void> {
  try {
    await replaceFile(file, content);
  } catch (error) {
    await makeVoid();
    throw new Error(`${whyNot(file, error as NodeJS.ErrnoException)}. What was made is void again.`, { cause: error });
  }
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
