import { type FSWatcher, statSync, watch } from "node:fs";
import { basename, dirname } from "node:path";

const settling = 300;

/**
 * Calls `changed` when a file has changed and then stayed untouched for a moment. Watches folders, not files: most
 * editors replace the file. If a folder cannot be watched, only changes made before the call are noticed.
 */
export function watchFiles(files: ReadonlyMap<string, string>, changed: () => void): { close(): void } {
  const paths = [...files.keys()];
  let before = [...files.values()].join();
  const compare = () => {
    const now = paths.map(fingerprintOf).join();
    if (now === before) return;
    before = now;
    changed();
  };
  let timer = setTimeout(compare, settling);
  const watchers = [...Map.groupBy(paths, dirname)].flatMap(([folder, inFolder]): FSWatcher[] => {
    const names = inFolder.map((file) => basename(file));
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        // Kubernetes swaps a link whose name starts with two dots; the files behind it have other names.
        if (name !== null && !names.includes(name) && !name.startsWith("..")) return;
        clearTimeout(timer);
        timer = setTimeout(compare, settling);
      });
      watcher.on("error", () => watcher.close());
      return [watcher];
    } catch {
      return [];
    }
  });
  return {
    close() {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}

/**
 * What shows that a file has changed. Per file, not per folder: the state file may be in the same folder, and writing
 * it does not change the config. All pipes look the same: using one changes its times.
 */
export function fingerprintOf(path: string): string {
  try {
    const stats = statSync(path);
    return stats.isFile() ? `${stats.ino} ${stats.size} ${stats.mtimeMs}` : "no file";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "none";
  }
}
