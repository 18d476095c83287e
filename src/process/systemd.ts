import { execFile } from "node:child_process";

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
 * Notifies systemd that we are ready and, twice per watchdog interval, that we are alive, as long as `isAlive` returns true. Uses
 * the program `systemd-notify`: Node has no Unix datagram sockets.
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
