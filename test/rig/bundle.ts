import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { whileLocked } from "./while-locked.ts";

const root = join(import.meta.dirname, "..", "..");
const cache = join(root, "node_modules/.cache/moor-bundle");
const sources = ["bin/*", "src/**/*.ts", "console/**/*.*", "scripts/build.ts", "scripts/build/*", "packaging/**/*.*"];
const others = ["package-lock.json", "package.json", "vite.config.ts", "README.md", "CHANGELOG.md"];
/** Milliseconds. */
const anHour = 3_600_000;

let folder: string | undefined;

/**
 * The folder of moor as users install it, built from the sources as they are now. The first test that asks for it
 * builds it, and later runs use it as long as no source changes.
 */
export function builtPackage(): string {
  folder ??= buildOnce();
  return folder;
}

export const builtPages = (): string => join(builtPackage(), "console");

/** Run by the Node that runs the tests. */
export const builtProgram = (): string => join(builtPackage(), "program/moor.js");

function buildOnce(): string {
  const wanted = join(cache, hashOfSources());
  if (existsSync(wanted)) return wanted;
  mkdirSync(cache, { recursive: true });
  whileLocked(`${cache}.lock`, () => {
    if (!existsSync(wanted)) build(wanted);
  });
  return wanted;
}

function build(wanted: string): void {
  // Removes only old ones: another run may still use a newer one.
  for (const name of globSync("*", { cwd: cache })) {
    const old = join(cache, name);
    if (Date.now() - statSync(old).mtimeMs > anHour) rmSync(old, { recursive: true });
  }
  // vitest sets NODE_ENV to test, which would build the pages for developers.
  const env = { ...process.env, NODE_ENV: "production", MOOR_COMMIT: "tested" };
  const node = join(root, "node_modules/.bin/node");
  execFileSync(node, [join(root, "scripts/build.ts"), `${wanted}-draft`], { env, stdio: "pipe" });
  renameSync(`${wanted}-draft`, wanted);
}

function hashOfSources(): string {
  const hash = createHash("sha256");
  const files = globSync(sources, { cwd: root }).filter((file) => !/\.(?:test|suite)\.ts$/.test(file));
  for (const file of [...files.sort(), ...others]) {
    hash.update(`${file}\n`);
    hash.update(readFileSync(join(root, file)));
  }
  return hash.digest("hex").slice(0, 16);
}
