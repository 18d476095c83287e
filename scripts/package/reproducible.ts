import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";

export const repository = resolve(import.meta.dirname, "../..");

export const { version } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as { version: string };

/** On standard error, because scripts read what was built from standard output. Some steps take minutes. */
export function progress(what: string): void {
  console.error(`${new Date().toISOString().slice(11, 19)} ${what}`);
}

export function run(program: string, ...words: readonly string[]): string {
  // Sorting, dates and messages must not depend on who builds.
  const env = { ...process.env, LC_ALL: "C.UTF-8", TZ: "UTC" };
  return execFileSync(program, words, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], env, maxBuffer: 1e9 });
}

/** The time of all packaged files, in seconds: SOURCE_DATE_EPOCH if set, otherwise the time of the commit. */
export function sourceDate(): number {
  const given = process.env.SOURCE_DATE_EPOCH ?? run("git", "-C", repository, "log", "-1", "--format=%ct");
  if (!/^\d+\s*$/.test(given)) throw new Error(`SOURCE_DATE_EPOCH is ${given}: must be seconds since 1970`);
  return Number(given);
}

/**
 * Writes the folder as a tar file that is the same for the same content. Everything belongs to root, except what is in
 * the folder `owned.path`. Modes are taken from the files.
 */
export function tar(folder: string, file: string, owned?: { readonly path: string; readonly id: number }): void {
  const common = ["--format=gnu", "--sort=name", `--mtime=@${sourceDate()}`, "--numeric-owner", "-C", folder];
  const others = owned === undefined ? [] : [`--exclude=./${owned.path}`];
  run("tar", "-cf", file, ...common, "--owner=0", "--group=0", ...others, ".");
  if (owned) run("tar", "-rf", file, ...common, `--owner=${owned.id}`, `--group=${owned.id}`, `./${owned.path}`);
}

/** Uses gzip, because the output of Node's zlib depends on the processor. */
export function gzip(file: string): string {
  progress(`compressing ${basename(file)}`);
  run("gzip", "-9", "--no-name", "--force", file);
  return `${file}.gz`;
}

export const sha256 = (data: string | Buffer): string => createHash("sha256").update(data).digest("hex");
