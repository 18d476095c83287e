import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { builtPackage } from "../rig/bundle.ts";
import { node, repository } from "../rig/namespace.ts";

/** What a release is made for, by Debian's names; `here`: the processor of this machine, `other`: the other one. */
export const architectures = ["amd64", "arm64"] as const;

export type Architecture = (typeof architectures)[number];

export const here: Architecture = process.arch === "x64" ? "amd64" : "arm64";
export const other: Architecture = here === "amd64" ? "arm64" : "amd64";

export const { version } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as { version: string };

/** Builds one form of moor. What the script prints is shown as it runs: building takes minutes. */
export function build(form: "deb" | "image" | "single-file", output: string, ...words: readonly string[]): void {
  const script = join(repository, `scripts/build-${form}.ts`);
  const all = [script, "--dist", builtPackage(), "--output", output, ...words];
  execFileSync(node, all, { stdio: ["ignore", "inherit", "inherit"] });
}

export const sumOf = (file: string): string => createHash("sha256").update(readFileSync(file)).digest("hex");
