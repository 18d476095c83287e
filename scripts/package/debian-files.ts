import { globSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Architecture } from "./architecture.ts";
import { progress, run } from "./reproducible.ts";

export type DebianPackage = {
  readonly name: string;
  readonly version: string;
  /** Its control fields. */
  readonly control: string;
  /** Paths after the /usr merge, without the first slash: `usr/bin/ip`, even if the package says `/bin/ip`. */
  readonly files: ReadonlySet<string>;
};

/**
 * Downloads Debian packages and all their dependencies, for any processor, from the mirrors that this machine uses, and
 * unpacks them to `folder/tree`. apt gets separate folders and an empty status file, so nothing changes on this
 * machine.
 */
export function unpackDebian(
  architecture: Architecture,
  names: readonly string[],
  folder: string,
): readonly DebianPackage[] {
  progress(`fetching Debian packages for ${architecture}`);
  const at = (path: string) => join(folder, path);
  for (const path of ["state/lists/partial", "cache/archives/partial"]) mkdirSync(at(path), { recursive: true });
  writeFileSync(at("status"), "");
  const settings = {
    ...{ "Dir::State": at("state"), "Dir::State::status": at("status"), "Dir::Cache": at("cache") },
    ...{ "APT::Architecture": architecture, "APT::Architectures": architecture, "APT::Install-Recommends": "false" },
    // Otherwise apt downloads as another user, who cannot write to these folders.
    "APT::Sandbox::User": "root",
  };
  const apt = (...words: string[]) =>
    run("apt-get", "-qq", ...Object.entries(settings).flatMap(([key, value]) => ["-o", `${key}=${value}`]), ...words);
  apt("update");
  apt("--download-only", "--yes", "install", ...names);
  makeMergedTree(at("tree"));
  const archives = globSync("cache/archives/*.deb", { cwd: folder }).sort();
  return archives.map((archive) => unpack(at(archive), at("tree")));
}

/** As on every Debian machine, `/bin` is `/usr/bin`, and so on. */
export function makeMergedTree(root: string): void {
  for (const name of mergedFolders) {
    mkdirSync(join(root, "usr", name), { recursive: true });
    symlinkSync(`usr/${name}`, join(root, name));
  }
}

const mergedFolders = ["bin", "sbin", "lib", "lib64"];
const isMerged = new RegExp(`^(?=(?:${mergedFolders.join("|")})/)`);

function unpack(archive: string, tree: string): DebianPackage {
  const control = run("dpkg-deb", "--field", archive);
  const field = (key: string) => new RegExp(`^${key}: (.*)$`, "m").exec(control)?.[1] ?? "";
  const script = 'dpkg-deb --fsys-tarfile "$0" | tar -xv --keep-directory-symlink --no-same-owner -C "$1"';
  const paths = run("sh", "-c", script, archive, tree).trim().split("\n");
  const files = new Set(paths.map((path) => path.replace(/^\.\//, "").replace(isMerged, "usr/")));
  return { name: field("Package"), version: field("Version"), control, files };
}

/** The names of the libraries that a program or library is linked to. */
export const librariesOf = (file: string): readonly string[] =>
  [...run("readelf", "--dynamic", file).matchAll(/\(NEEDED\).*\[(.*)\]/g)].map(([, name = ""]) => name);
