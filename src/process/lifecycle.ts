import { execFile } from "node:child_process";
import type { Logger } from "./log.ts";
import { within } from "./within.ts";

/** Something opened that must be closed: a server, a database, a watcher. */
export type Opened = { readonly name: string; readonly close: () => void | Promise<void> };

/**
 * Closes in reverse order of opening, all of it within `limit` ms: what does not close in time is logged and abandoned.
 */
export async function closeInReverse(opened: readonly Opened[], log: Logger, limit = 4_000): Promise<void> {
  const end = performance.now() + limit;
  for (const each of opened.toReversed()) {
    try {
      await within(Math.max(0, end - performance.now()), Promise.try(each.close), "took too long");
    } catch (error) {
      log.error({ what: each.name, err: error }, "a part of the service could not be closed");
    }
  }
}

/** Does nothing if systemd did not start us. */
export type Systemd = { ready(): void; reloading(): void; close(): void };

const silent: Systemd = { ready: () => undefined, reloading: () => undefined, close: () => undefined };

type SystemdOptions = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What we do once we are ready, for `systemctl status`. */
  readonly status: string;
  readonly isAlive?: () => boolean;
};

/**
 * Notifies systemd that we are ready and, twice per watchdog interval, that we are alive, as long as `isAlive` returns
 * true. Uses the program `systemd-notify`: Node has no Unix datagram sockets.
 */
export function openSystemd({ env, status, isAlive = () => true }: SystemdOptions): Systemd {
  if (!env.NOTIFY_SOCKET) return silent;
  const notify = (...words: readonly string[]) => {
    execFile("systemd-notify", words, { env: { ...env }, timeout: 5_000 }, () => undefined);
  };
  const half = Math.floor(Number(env.WATCHDOG_USEC) / 2000);
  const timer = half > 0 ? setInterval(() => isAlive() && notify("WATCHDOG=1"), half) : undefined;
  return {
    ready: () => notify("--ready", `--status=${status}`),
    reloading: () => notify("--status=config reloaded"),
    close() {
      clearInterval(timer);
      notify("--stopping");
    },
  };
}
