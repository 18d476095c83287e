import { readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";

/** As many as Linux follows. */
const mostLinks = 40;

/** The file that a path leads to through symbolic links, whether or not it is there yet. */
export function linkTarget(path: string): string {
  let at = path;
  for (let links = 0; links < mostLinks; links++) {
    try {
      // The native one, which does not take `link/..` for the folder that the link is in.
      at = join(realpathSync.native(dirname(at)), basename(at));
      const to = readlinkSync(at);
      at = isAbsolute(to) ? to : `${dirname(at)}/${to}`;
    } catch {
      // No link, or nothing there: what is wrong with it shows when it is written.
      return at;
    }
  }
  return path;
}
