import { readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";

/** The limit of Linux. */
const mostLinks = 40;

/** The file that a path leads to through symbolic links, even if it does not exist yet. */
export function linkTarget(path: string): string {
  let at = path;
  for (let links = 0; links < mostLinks; links++) {
    try {
      // The native version: the other one resolves `link/..` to the folder that contains the link.
      at = join(realpathSync.native(dirname(at)), basename(at));
      const to = readlinkSync(at);
      at = isAbsolute(to) ? to : `${dirname(at)}/${to}`;
    } catch {
      // Not a link, or it does not exist. Any other problem shows up when it is written.
      return at;
    }
  }
  return path;
}
