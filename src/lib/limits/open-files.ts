import { readFileSync } from "node:fs";
import type { Server } from "node:net";
import type { Logger } from "../../process/log.ts";

/**
 * Every connection, even an idle one, uses a file descriptor of this process. A server that uses at most half of them
 * leaves enough for the database, DNS, `/metrics` and `/health`.
 */
export function leaveHalfTheFiles(server: Server, log: Logger): void {
  const most = mostOpenFiles();
  if (most === undefined) return;
  server.maxConnections = partOfFiles(2, Number.POSITIVE_INFINITY);
  let warnedAt = Number.NEGATIVE_INFINITY;
  server.on("drop", () => {
    if (performance.now() - warnedAt < minute) return;
    warnedAt = performance.now();
    log.warn(
      { most: server.maxConnections },
      "too many connections are open (half of the open files that this process may have), so new ones are refused; raise that limit (LimitNOFILE in systemd) if they are legitimate",
    );
  });
}

const minute = 60_000;

/**
 * One `part`-th of the files that this process may open, and no more than `atMost`. HTTP uses half, DNS over TCP a
 * quarter, transfers from primary servers an eighth; the rest is for the database, the log and everything else.
 */
export const partOfFiles = (part: number, atMost: number): number =>
  Math.min(atMost, Math.ceil((mostOpenFiles() ?? Number.POSITIVE_INFINITY) / part));

/** Undefined if there is no limit, or it is not known. */
function mostOpenFiles(): number | undefined {
  try {
    const [, most] = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return most === undefined ? undefined : Number(most);
  } catch {
    return undefined;
  }
}
