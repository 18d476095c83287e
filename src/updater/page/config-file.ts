import { constants, readFileSync } from "node:fs";
import { access, readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { withoutMark } from "../../core/utf8-text.ts";
import { linkTarget, replaceKeeping } from "../../process/data-folder.ts";

export const readConfigFile = async (file: string): Promise<string> => withoutMark(await readFile(file, "utf8"));

/** Why the page cannot write this file, and what to do; undefined if it can. */
export async function whyNotWritable(file: string, what: "config" | "token" = "config"): Promise<string | undefined> {
  const target = linkTarget(file);
  try {
    if (!(await stat(target)).isFile())
      return `The ${what} does not come from a file (${file}), so it cannot be changed here.`;
    // Kubernetes and others mount a version of the file under such a name, and replace it.
    if (/\/\.\.[^/]/.test(target))
      return `The ${what} is mounted from elsewhere (${target}). Change it where it comes from.`;
    // A new version is written next to it, and replaces it.
    await access(target, constants.W_OK);
    await access(dirname(target), constants.W_OK);
    return undefined;
  } catch (error) {
    return readOnly(target, error as NodeJS.ErrnoException);
  }
}

export const readOnly = (target: string, { code, message }: NodeJS.ErrnoException): string =>
  `The updater is not allowed to write ${target} or its folder (${code ?? message}). Allow that, or edit the file yourself; the updater uses the change immediately.`;

export type NotWritten = { readonly kind: "outdated" } | { readonly kind: "impossible"; readonly because: string };

/**
 * Replaces the file, unless it was changed since it was read; undefined if that succeeded. Of several at the same time,
 * one succeeds.
 */
export async function writeConfigFile(file: string, before: string, after: string): Promise<NotWritten | undefined> {
  const target = linkTarget(file);
  const outdated = new Error("changed since it was read");
  try {
    const raw = await readFile(target, "utf8");
    if (withoutMark(raw) !== before) throw outdated;
    await replaceKeeping(target, raw.slice(0, raw.length - before.length) + after, () => {
      if (readFileSync(target, "utf8") !== raw) throw outdated;
    });
    return undefined;
  } catch (error) {
    if (error === outdated) return { kind: "outdated" };
    return { kind: "impossible", because: readOnly(target, error as NodeJS.ErrnoException) };
  }
}
