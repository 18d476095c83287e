import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { NodeBinary } from "./node-binary.ts";

/** Where the image and the Debian package install the program and its Node. */
export const programFolder = "usr/lib/moor";

const command = `#!/bin/sh\nexec /${programFolder}/node /${programFolder}/program/moor.js "$@"\n`;

/** Puts the built package into a tree, and the command `moor`, which runs it with the Node of that tree. */
export function installProgram(dist: string, root: string): void {
  const main = "program/moor.js";
  if (!existsSync(join(dist, main))) throw new Error(`${dist} is not built; run first: npm run build`);
  const folder = join(root, programFolder);
  for (const name of ["program", "console", "licences.txt", "package.json", "moor.sample.yaml", "moor.schema.json"])
    cpSync(join(dist, name), join(folder, name), { recursive: true, filter: (file) => !file.endsWith(".map") });
  writeFileSync(join(folder, main), readFileSync(join(dist, main), "utf8").replace(/^#!.*/, ""));
  chmodSync(join(folder, main), 0o644);
  mkdirSync(join(root, "usr/bin"), { recursive: true });
  writeFileSync(join(root, "usr/bin/moor"), command, { mode: 0o755 });
}

export function installNode({ program, licence }: NodeBinary, root: string): void {
  const folder = join(root, programFolder);
  mkdirSync(folder, { recursive: true });
  copyFileSync(program, join(folder, "node"));
  chmodSync(join(folder, "node"), 0o755);
  copyFileSync(licence, join(folder, "node-licence.txt"));
}
