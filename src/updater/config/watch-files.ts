import { type FSWatcher, statSync, watch } from "node:fs";
import { basename, dirname } from "node:path";

const settling = 300;

/**
 * Says when one of the files no longer looks as it did, and has been left alone for a moment since. Folders are watched, not
 * files: most editors put a new file in the place of the old one. Where a folder cannot be watched, only what has changed
 * before is said.
 */
export function watchFiles(files: ReadonlyMap<string, string>, changed: () => void): { close(): void } {
  const paths = [...files.keys()];
  let before = [...files.values()].join();
  const look = () => {
    const now = paths.map(lookOf).join();
    if (now === before) return;
    before = now;
    changed();
  };
  let timer = setTimeout(look, settling);
  const watchers = [...Map.groupBy(paths, dirname)].flatMap(([folder, inFolder]): FSWatcher[] => {
    const names = inFolder.map((file) => basename(file));
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        // A link that is swapped, as Kubernetes does it, has another name than what it leads to.
        if (name !== null && !names.includes(name) && !name.startsWith("..")) return;
        clearTimeout(timer);
        timer = setTimeout(look, settling);
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
 * Of each file alone: the state file may stand beside these, and what is written there is no change here. A pipe has no look:
 * that would change as it is read.
 */
export function lookOf(path: string): string {
  try {
    const found = statSync(path);
    return found.isFile() ? `${found.ino} ${found.size} ${found.mtimeMs}` : "no file";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "none";
  }
}
