import { type Stats, statSync } from "node:fs";
import { basename } from "node:path";
import type { SettingPlace } from "../../lib/settings/setting.ts";
import { linkTarget } from "../../process/data-folder.ts";

type Named = { readonly state?: string; readonly history?: string };

/** The files that the updater writes: `state:` and `history:`, by default next to the config. */
export function keptFiles({ state, history }: Named, config: string, resolve: (path: string) => string) {
  const base = basename(config).replace(/\.ya?ml$/, "");
  return { state: resolve(state ?? `${base}-state.json`), history: resolve(history ?? `${base}-history.jsonl`) };
}

/** `filesRead`: the config and the files it names. */
export function checkKeptFiles(
  kept: Required<Named>,
  filesRead: readonly string[],
  { has, fault }: SettingPlace,
): void {
  const targetsRead = new Set(filesRead.map(linkTarget));
  for (const key of ["state", "history"] as const) {
    const path = kept[key];
    const kind = oddKind(path);
    if (kind) fault({ code: "kept-file-odd", message: `${key} is ${kind}: ${path}`, todo }, key);
    if (has(key) && targetsRead.has(linkTarget(path))) {
      const message = `${key} is a file that this config reads; it would be overwritten`;
      fault({ code: "kept-file-taken", message, todo }, key);
    }
  }
  if (linkTarget(kept.state) === linkTarget(kept.history)) {
    // The defaults differ, so at least one of the two settings is set.
    const [key, other] = has("history") ? ["history", "state"] : ["state", "history"];
    fault({ code: "kept-file-taken", message: `${key} and ${other} name the same file`, todo }, key);
  }
}

const todo = "choose another file, or remove the setting to use the default next to the config";

/**
 * What the path is instead of a plain file. Reading a pipe would block forever, and writing would replace it with a
 * file.
 */
function oddKind(path: string): string | undefined {
  let stats: Stats | undefined;
  try {
    stats = statSync(path, { throwIfNoEntry: false });
  } catch {
    // Opening the file will report the reason.
    return undefined;
  }
  if (!stats || stats.isFile()) return undefined;
  if (stats.isDirectory()) return "a folder";
  if (stats.isFIFO()) return "a pipe";
  return stats.isSocket() ? "a socket" : "a device";
}
