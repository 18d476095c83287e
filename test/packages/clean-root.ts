import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, renameSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repository } from "../rig/namespace.ts";

/** Throws with what the program printed. */
export function run(program: string, ...words: readonly string[]): string {
  const env = { ...process.env, LC_ALL: "C.UTF-8", DEBIAN_FRONTEND: "noninteractive" };
  return execFileSync(program, words, { encoding: "utf8", stdio: "pipe", env, maxBuffer: 1e8 });
}

/**
 * Unpacks a Debian of this machine's release with nothing but apt and systemd. Its archive is made once and kept for
 * later runs.
 */
export function makeCleanRoot(): string {
  if (process.getuid?.() !== 0)
    throw new Error("the tests of packages install and boot them, so they must run as root");
  const codename = run("sh", "-c", ". /etc/os-release && echo $VERSION_CODENAME").trim();
  const kept = join(repository, "node_modules/.cache/moor-clean-root", `${codename}.tar`);
  if (!existsSync(kept)) {
    console.error(`unpacking a clean Debian ${codename}: this takes a minute, once`);
    mkdirSync(join(kept, ".."), { recursive: true });
    const sources = globSync(["/etc/apt/sources.list", "/etc/apt/sources.list.d/*.{list,sources}"]);
    run("mmdebstrap", "--variant=apt", "--include=systemd,dbus", codename, `${kept}.draft.tar`, ...sources);
    renameSync(`${kept}.draft.tar`, kept);
  }
  const root = mkdtempSync(join(tmpdir(), "moor-root-"));
  run("tar", "-xf", kept, "-C", root);
  return root;
}

/** Installs what apt finds for these names or files in the root, with what they depend on. */
export function aptInstall(root: string, ...names: readonly string[]): string {
  run("chroot", root, "apt-get", "-qq", "update");
  return run("chroot", root, "apt-get", "-qq", "install", "--yes", ...names);
}
