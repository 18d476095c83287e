import { execFile } from "node:child_process";
import { cp, glob, mkdir, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const root = join(import.meta.dirname, "..", "..");
/** Not the folder of `npm run build`, which may run at the same time. */
export const builtPages = join(root, "node_modules/.cache/moor-console");
/** As built by `npm ci`. */
const installedPages = join(root, "dist/console");
const lock = join(root, "node_modules/.cache/moor-console-lock");
/** Milliseconds. A few seconds are enough on an idle machine. */
const longest = 600_000;
const sources = ["console/**/*.*", "src/core/**/*.ts", "src/contract/*.ts", "vite.config.ts"];

/** Builds the pages if they are older than their sources, so that tests never run on stale ones. One build at a time. */
export async function buildConsole(): Promise<void> {
  await mkdir(dirname(lock), { recursive: true });
  for (let tries = 0; tries < longest / 100; tries++) {
    const held = await mkdir(lock).then(
      () => true,
      () => false,
    );
    if (!held) {
      await sleep(100);
      continue;
    }
    try {
      if (await isOld(builtPages)) await makePages();
      return;
    } finally {
      await rmdir(lock);
    }
  }
  throw new Error(`another process has been building the pages for too long; if there is none, remove ${lock}`);
}

async function makePages(): Promise<void> {
  if (await isOld(installedPages)) return void (await runBuild());
  await rm(builtPages, { recursive: true, force: true });
  await cp(installedPages, builtPages, { recursive: true });
}

/** Like `npm run build:console`: the environment of the tests would select development builds. */
const runBuild = () =>
  promisify(execFile)(join(root, "node_modules/.bin/vite"), ["build", "--outDir", builtPages], {
    cwd: root,
    env: { ...process.env, NODE_ENV: "production" },
    timeout: longest,
  });

async function isOld(pages: string): Promise<boolean> {
  const built = await changed(join(pages, "records.html"));
  for await (const file of glob(sources, { cwd: root })) if ((await changed(join(root, file))) > built) return true;
  return false;
}

const changed = (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
