import { readFileSync } from "node:fs";
import type { Server } from "node:net";
import type { Logger } from "../../process/log.ts";

/** The event of a server that refuses a connection because its client has enough; with the address of the client. */
export const clientRefused = "moor:client-refused";

/**
 * Every connection, even an idle one, uses a file descriptor of this process. A server that uses at most half of them
 * leaves enough for the database, DNS, `/metrics` and `/health`.
 */
export function leaveHalfTheFiles(server: Server, log: Logger): void {
  const most = mostOpenFiles();
  if (most === undefined) return;
  server.maxConnections = partOfFiles(2, Number.POSITIVE_INFINITY);
  const warnAboutAll = eachMinute(() =>
    log.warn(
      { most: server.maxConnections },
      "too many connections are open (half of the open files that this process may have), so new ones are refused; raise that limit (LimitNOFILE in systemd) if they are legitimate",
    ),
  );
  const warnAboutOne = eachMinute((client) =>
    log.warn(
      { client },
      "one client has too many connections open, so its new ones are refused; if it is a proxy, name it with --trust-proxy",
    ),
  );
  server.on("drop", () => warnAboutAll(undefined));
  server.on(clientRefused, warnAboutOne);
}

/** At most once per minute, whatever is passed. */
function eachMinute(warn: (client: string | undefined) => void): (client: string | undefined) => void {
  let warnedAt = Number.NEGATIVE_INFINITY;
  return (client) => {
    if (performance.now() - warnedAt < minute) return;
    warnedAt = performance.now();
    warn(client);
  };
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
