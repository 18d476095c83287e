import { type FSWatcher, statSync, watch } from "node:fs";
import { basename, dirname } from "node:path";

const settling = 300;

/**
 * Says when one of the files has changed, and has been left alone for a moment since. Folders are watched, not files: most
 * editors put a new file in the place of the old one. Where a folder cannot be watched, nothing is said.
 */
export function watchFiles(paths: readonly string[], changed: () => void): { close(): void } {
  let before = signature(paths);
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    const now = signature(paths);
    if (now === before) return;
    before = now;
    changed();
  };
  const watchers = [...Map.groupBy(paths, dirname)].flatMap(([folder, files]): FSWatcher[] => {
    const names = files.map((file) => basename(file));
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

/** The state file may stand beside these: what was written there must not look like a change here. */
function signature(paths: readonly string[]): string {
  return paths
    .map((path) => {
      const found = statSync(path, { throwIfNoEntry: false });
      return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : "none";
    })
    .join();
}
