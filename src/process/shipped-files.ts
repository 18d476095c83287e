import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { getAsset, getRawAsset, isSea } from "node:sea";
import { fileURLToPath } from "node:url";
import { Worker, type WorkerOptions } from "node:worker_threads";

/**
 * What comes with moor besides its program: built pages, and the programs of threads. The package has them beside the
 * program (`scripts/build.ts`), the single executable inside. A clone has the pages in `dist`, and runs the threads
 * from source.
 */
const isSource = import.meta.url.endsWith(".ts");

const shippedFolder = (): string => fileURLToPath(new URL(isSource ? "../../dist/" : "../", import.meta.url));

/** Undefined if there is no such file. */
export async function readShipped(name: string, folder?: string): Promise<Buffer | undefined> {
  if (folder === undefined && isSea()) return readEmbedded(name);
  try {
    return await readFile(join(folder ?? shippedFolder(), name));
  } catch (error) {
    if (["ENOENT", "EISDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

function readEmbedded(name: string): Buffer | undefined {
  try {
    return Buffer.from(getRawAsset(name));
  } catch {
    return undefined;
  }
}

/** Starts `bin/<name>.ts` as a thread. */
export function startThread(name: string, options: WorkerOptions): Worker {
  if (isSea()) return new Worker(getAsset(`program/${name}.cjs`, "utf8"), { ...options, eval: true });
  return new Worker(new URL(isSource ? `../../bin/${name}.ts` : `./${name}.cjs`, import.meta.url), options);
}

export const version = "1.0.0-rc.1";
