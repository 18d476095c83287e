import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");
const cache = join(root, "node_modules/.cache/moor-bundle");
const lock = `${cache}-lock`;
const sources = ["bin/*", "src/**/*.ts", "console/**/*.*", "scripts/build.ts", "scripts/build/*", "packaging/**/*.*"];
const others = ["package-lock.json", "package.json", "vite.config.ts", "README.md", "CHANGELOG.md"];
/** Milliseconds. A few seconds are enough on an idle machine. */
const longest = 600_000;
const anHour = 3_600_000;

let folder: string | undefined;

/**
 * The folder of moor as users install it, built from the sources as they are now. The first test that asks for it builds it, and later
 * runs use it as long as no source changes.
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
  mkdirSync(cache, { recursive: true });
  for (let waited = 0; waited < longest; waited += 100) {
    if (existsSync(wanted)) return wanted;
    if (!takeLock()) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
      continue;
    }
    try {
      if (!existsSync(wanted)) build(wanted);
    } finally {
      rmdirSync(lock);
    }
  }
  throw new Error(`another process has been building the package for too long; if there is none, remove ${lock}`);
}

function build(wanted: string): void {
  // Another run may still use one that is not as old.
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

function takeLock(): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    return false;
  }
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
