import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { repository } from "../updater/home.ts";

/** One way to install moor, and what it took. Sizes are in bytes. */
export type Way = {
  readonly name: string;
  readonly download: number;
  readonly unpacked: number;
  /** Seconds from nothing to a program that runs; absent: it is only copied. */
  readonly seconds?: number;
  readonly command: readonly string[];
};

const run = (cwd: string, program: string, ...words: string[]) =>
  execFileSync(program, words, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1e9 });

/** The checked-out commit after `npm ci --omit=dev`. */
export function takeClone(folder: string): Way {
  const clone = join(folder, "clone");
  run(folder, "git", "clone", "--quiet", "--depth", "1", `file://${repository}`, clone);
  const start = performance.now();
  run(clone, "npm", "ci", "--omit=dev");
  const seconds = (performance.now() - start) / 1000;
  const download = Number(run(folder, "sh", "-c", "tar -cz clone | wc -c"));
  const command = ["env", `XDG_CACHE_HOME=${join(folder, "cache")}`, join(clone, "bin/moor")];
  return { name: "clone, with its Node", download, unpacked: sizeOf(clone), seconds, command };
}

/** `npm install --global`, on the Node of the machine. */
export function takePackage(folder: string): Way {
  run(repository, "npm", "run", "-s", "build");
  const packed = run(folder, "npm", "pack", "--silent", join(repository, "dist")).trim();
  const start = performance.now();
  run(folder, "npm", "install", "--offline", "--global", "--prefix", "prefix", `./${packed}`);
  const seconds = (performance.now() - start) / 1000;
  const installed = join(folder, "prefix/lib/node_modules/moor");
  const command = [process.execPath, join(installed, "program/moor.js")];
  return {
    ...{ name: "package (npm install --global)", seconds, command },
    download: statSync(join(folder, packed)).size,
    unpacked: sizeOf(installed),
  };
}

/** After `takePackage`, which builds what is in it. */
export function takeSingleFile(folder: string): Way {
  const file = join(folder, "moor");
  run(repository, process.execPath, "scripts/build-single-file.ts", "--output", file);
  const download = Number(run(folder, "sh", "-c", "xz -T0 -3 -c moor | wc -c"));
  return { name: "single file, with its Node", download, unpacked: statSync(file).size, command: [file] };
}

/** A package of Debian alone, without Perl and other packages that it needs. Undefined if it is not installed. */
export function debianPackage(name: string): Way | undefined {
  try {
    const text = run("/", "apt-cache", "show", name);
    const field = (key: string) => Number(new RegExp(`^${key}: (\\d+)$`, "m").exec(text)?.[1]);
    run("/", "dpkg-query", "-W", name);
    const [download, unpacked] = [field("Size"), 1024 * field("Installed-Size")];
    return { name: `${name} (apt)`, download, unpacked, command: [name] };
  } catch {
    return undefined;
  }
}

/** Hard links count once. */
function sizeOf(folder: string): number {
  const seen = new Set<number>();
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => statSync(join(folder, name), { throwIfNoEntry: false }))
    .filter((file) => file?.isFile() && !seen.has(file.ino) && seen.add(file.ino))
    .reduce((sum, file) => sum + (file?.size ?? 0), 0);
}
