import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isUtf16, withoutMark } from "../../core/utf8-text.ts";
import type { CommandIo } from "../io/command-io.ts";
import { WrongAnswer } from "./asker.ts";

/** The text of a file that an option names. */
export function readOptionFile(flag: string, file: string, io: CommandIo): string {
  if (isSecretItself(file) && !existsSync(resolve(io.cwd, file)))
    throw new WrongAnswer(
      `${flag} must be the path of a file, but looks like the secret itself. ` +
        "Write the secret to a file that only you can read, and give its path.",
    );
  const read = readFileText(file, io);
  if ("text" in read) return read.text;
  throw new WrongAnswer(`${flag} ${file} ${read.wrong}.`);
}

/** The answer to a question for a key or token: what was typed, or the text of the file at that path. */
export function readTyped(typed: string, io: CommandIo): { readonly text: string } | { readonly wrong: string } {
  const answer = typed.trim();
  if (!isPath(answer, io)) return { text: answer };
  const read = readFileText(answer, io);
  return "text" in read ? read : { wrong: `The file ${read.wrong}.` };
}

export const isPath = (typed: string, { cwd }: CommandIo): boolean =>
  !isSecretItself(typed) &&
  (/^(?:~|\.{0,2})\/|^[A-Za-z]:\\|\.(?:txt|key|token|conf)$/.test(typed) || existsSync(resolve(cwd, typed)));

/** OPNsense's and moor's API keys (base64), and tokens of both record APIs. */
const isSecretItself = (text: string): boolean => /^(?:[A-Za-z0-9+/]{80}|[A-Za-z0-9]{32,64})$/.test(text);

/** `wrong` continues a sentence about the file. */
export function readFileText(
  file: string,
  { cwd, env }: CommandIo,
): { readonly text: string } | { readonly wrong: string } {
  const path = file.startsWith("~/") && env.HOME !== undefined ? join(env.HOME, file.slice(2)) : resolve(cwd, file);
  try {
    const text = readFileSync(path, "utf8");
    return isUtf16(text) ? { wrong: "is not UTF-8; save it as UTF-8" } : { text: withoutMark(text) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { wrong: code === "ENOENT" ? "does not exist" : `cannot be read (${code ?? message})` };
  }
}
