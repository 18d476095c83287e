import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { backOffDelay } from "../../core/updates/back-off.ts";
import type { Logger } from "../../process/log.ts";
import { runIp, usualCommands } from "./run-ip.ts";

export type WatchKernel = {
  /** Something may have changed. */
  readonly onChange: () => void;
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly random?: () => number;
  readonly commands?: readonly string[];
  /** Milliseconds between two calls without an event, while `ip monitor` runs and while it does not. */
  readonly every?: { readonly monitored: number; readonly alone: number };
  /** Milliseconds. */
  readonly backOff?: { readonly base: number; readonly cap: number };
};

/**
 * Milliseconds. `ip monitor` does not say when it starts to listen; one more call after this time covers earlier
 * changes.
 */
const listeningBy = 150;

/**
 * Calls `onChange` whenever the kernel reports a changed address or link, until the signal aborts. `ip monitor` is
 * restarted when it ends. As a safety net, `onChange` is also called every half minute, or every second while `ip
 * monitor` does not run.
 */
export async function watchKernel(options: WatchKernel): Promise<void> {
  const { onChange, signal, log, every = { monitored: 30_000, alone: 1_000 } } = options;
  const { random = Math.random, backOff = { base: 250, cap: 30_000 }, commands = usualCommands } = options;
  let monitored = false;
  const safetyPolls = pollForSafety(() => (monitored ? every.monitored : every.alone), onChange, signal);
  for (let failures = 0; !signal.aborted; ) {
    const startedAt = performance.now();
    const ended = await listen(commands, signal, onChange, (state) => {
      monitored = state;
    });
    if (signal.aborted) break;
    failures = performance.now() - startedAt > 60_000 ? 1 : failures + 1;
    if (failures === 1)
      log.warn({ because: ended }, "cannot watch the kernel for changes; reading it every second instead");
    await pause(backOffDelay(failures, random(), backOff), signal);
  }
  await safetyPolls;
}

async function pollForSafety(every: () => number, onChange: () => void, signal: AbortSignal): Promise<void> {
  let waited = 0;
  while (!signal.aborted) {
    await pause(1_000, signal);
    waited += 1_000;
    if (waited < every()) continue;
    waited = 0;
    if (!signal.aborted) onChange();
  }
}

/**
 * If moor were killed, `ip` would keep running until the kernel's next event. So a shell runs in between: it only reads
 * from a pipe from moor, and kills `ip` when that pipe is closed for any reason. Ctrl-C reaches all programs of a
 * terminal, and `ip` ignores it, so the shell must ignore it too.
 */
const untilPipeEnds = 'trap "" INT; "$0" -o monitor address link & exec >&-; read -r _; kill $!; wait';

/** Resolves with the reason when `ip monitor` has ended. */
async function listen(
  commands: readonly string[],
  signal: AbortSignal,
  onChange: () => void,
  onState: (monitored: boolean) => void,
): Promise<string> {
  const ipOutput = await runIp(["-V"], { commands, signal }).catch(() => undefined);
  if (ipOutput === undefined) return "there is no `ip` on this machine";
  const shell = spawn("/bin/sh", ["-c", untilPipeEnds, ipOutput.command], { stdio: ["pipe", "pipe", "ignore"] });
  const stop = () => shell.stdin.destroy();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  shell.stdin.on("error", () => undefined);
  shell.on("error", () => undefined);
  shell.stdout.on("data", onChange);
  const lateCheck = setTimeout(onChange, listeningBy);
  onState(true);
  try {
    // Only `ip` has the other end open, so this closes when `ip` ends.
    await once(shell.stdout, "close");
    return "`ip monitor` ended";
  } finally {
    onState(false);
    clearTimeout(lateCheck);
    signal.removeEventListener("abort", stop);
    stop();
    if (!signal.aborted) onChange();
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  wait(ms, undefined, { signal }).catch(() => undefined);
