import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pagesToRead from "../build/pages-to-read.json" with { type: "json" };
import type { Architecture } from "./architecture.ts";
import { installNode, installProgram } from "./installed-program.ts";
import { nodeBinary } from "./node-binary.ts";
import { gzip, progress, repository, run, sourceDate, version } from "./reproducible.ts";

export type DebOptions = {
  readonly architecture: Architecture;
  readonly dist: string;
  readonly output: string;
  readonly debianVersion?: string | undefined;
  /** The compression level; 0 is fast, for tests. */
  readonly level?: string | undefined;
};

/** `~` sorts before everything, so that 1.0.0 is newer than 1.0.0~rc.1. */
const usualVersion = `${version.replace("-", "~")}-1`;
const maintainer = "the moor authors <authors@moor.example>";
const source = join(repository, "packaging/debian");
const completions = {
  bash: "usr/share/bash-completion/completions/moor",
  zsh: "usr/share/zsh/vendor-completions/_moor",
  fish: "usr/share/fish/vendor_completions.d/moor.fish",
};

/** Writes a Debian package of the package in `dist` and Node to a folder. The same commit gives the same bytes. */
export function buildDeb(options: DebOptions): string {
  const root = mkdtempSync(join(tmpdir(), "moor-deb-"));
  try {
    chmodSync(root, 0o755);
    const file = join(options.output, `moor_${options.debianVersion ?? usualVersion}_${options.architecture}.deb`);
    build(root, file, options);
    return file;
  } finally {
    rmSync(root, { recursive: true });
  }
}

function build(
  root: string,
  file: string,
  { architecture, dist, debianVersion = usualVersion, level = "6" }: DebOptions,
): void {
  const put = (path: string, text: string | Buffer) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const copy = (from: string, path: string) => put(path, readFileSync(from));
  const compressed = (path: string, text: string | Buffer) => {
    put(path, text);
    gzip(join(root, path));
  };

  installNode(nodeBinary(architecture), root);
  installProgram(dist, root);
  cpSync(join(repository, "packaging/systemd"), join(root, "usr/lib/systemd/system"), { recursive: true });
  copy(join(source, "records.env"), "etc/moor/records.env");
  compressed("usr/share/man/man1/moor.1", readFileSync(join(repository, "packaging/man/moor.1")));
  for (const [shell, path] of Object.entries(completions))
    put(path, run(process.execPath, join(dist, "program/moor.js"), "complete", shell));
  copy(join(source, "copyright"), "usr/share/doc/moor/copyright");
  for (const name of pagesToRead)
    cpSync(join(repository, name), join(root, "usr/share/doc/moor", name), { recursive: true });
  compressed("usr/share/doc/moor/NEWS.md", readFileSync(join(repository, "CHANGELOG.md")));
  compressed("usr/share/doc/moor/changelog.Debian", changelog(debianVersion));
  for (const name of ["grafana", "prometheus", "proxy"])
    cpSync(join(repository, "packaging", name), join(root, "usr/share/doc/moor/examples", name), { recursive: true });
  copy(join(source, "lintian-overrides"), "usr/share/lintian/overrides/moor");

  const size = run("du", "--summarize", "--apparent-size", "--block-size=1024", root).split("\t")[0] ?? "";
  const fields = { VERSION: debianVersion, ARCHITECTURE: architecture, MAINTAINER: maintainer, SIZE: size };
  const control = readFileSync(join(source, "control"), "utf8");
  put(
    "DEBIAN/control",
    control.replaceAll(/@(\w+)@/g, (_, key: keyof typeof fields) => fields[key]),
  );
  put("DEBIAN/conffiles", "/etc/moor/records.env\n");
  put("DEBIAN/md5sums", run("sh", "-c", 'cd "$0" && find usr -type f -print0 | sort -z | xargs -0 md5sum', root));
  for (const script of ["postinst", "prerm", "postrm"]) {
    copyFileSync(join(source, script), join(root, "DEBIAN", script));
    chmodSync(join(root, "DEBIAN", script), 0o755);
  }
  process.env.SOURCE_DATE_EPOCH = String(sourceDate());
  // With more threads, the data would be split into other blocks, and the bytes would differ.
  progress("compressing the Debian package: this takes minutes");
  run("dpkg-deb", "--root-owner-group", "-Zxz", `-z${level}`, "--threads-max=1", "--build", root, file);
}

function changelog(debianVersion: string): string {
  const date = new Date(sourceDate() * 1000).toUTCString().replace("GMT", "+0000");
  return `moor (${debianVersion}) stable; urgency=medium\n\n  * moor ${version}; what changed is in NEWS.md.gz.\n\n -- ${maintainer}  ${date}\n`;
}
