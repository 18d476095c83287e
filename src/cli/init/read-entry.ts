import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { readText, type Setting } from "../../lib/settings/setting.ts";
import type { CommandIo } from "../io/command-io.ts";
import { defaultConfig } from "../update/load-config.ts";
import { WrongAnswer } from "./asker.ts";
import { printValue, type SetupEntry, writeFiles } from "./files.ts";
import type { InitOptions } from "./options.ts";

/** The entry as the config reader reads it, before the config exists. Its files exist only while it is read. */
export async function readEntry<T>(
  setting: Setting<T>,
  { name, settings, files }: SetupEntry,
  what: string,
  options: InitOptions,
  io: CommandIo,
): Promise<T & { readonly name: string }> {
  const config = dirname(resolve(io.cwd, options.config ?? defaultConfig));
  // A program cannot be started in a folder that does not exist yet.
  const folder = existsSync(config) ? config : io.cwd;
  const kept = mkdtempSync(join(tmpdir(), "moor-init-"));
  try {
    await writeFiles(kept, files);
    const read = readText(setting, printValue(settings), what, {
      env: io.env,
      resolve: (path) => (files.some((file) => file.path === path) ? join(kept, path) : resolve(folder, path)),
    });
    if (read.ok) return { ...read.value, name };
    throw new WrongAnswer(read.faults.map(({ message, todo }) => `${message}; ${todo}`).join("\n"));
  } finally {
    rmSync(kept, { recursive: true });
  }
}
