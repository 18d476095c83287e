import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { backOffDelay } from "../../core/updates/back-off.ts";
import type { Logger } from "../../process/log.ts";
import { runIp, usualCommands } from "./run-ip.ts";

export type WatchKernel = {
  /** Something may have changed: look. */
  readonly onChange: () => void;
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly random?: () => number;
  readonly commands?: readonly string[];
  /** Milliseconds between two readings, while `ip monitor` runs and while it does not. */
  readonly every?: { readonly monitored: number; readonly alone: number };
  /** Milliseconds. */
  readonly backOff?: { readonly base: number; readonly cap: number };
};

/** `ip` says nothing when it begins to listen; what changes before that is found by one more look. */
const listeningBy = 150;

/**
 * Calls `onChange` whenever the kernel tells of a changed address or link, until the signal aborts. The teller (`ip
 * monitor`) is started again when it ends. A net below it: a look every half minute, every second while nobody tells.
 */
export async function watchKernel(options: WatchKernel): Promise<void> {
  const { onChange, signal, log, every = { monitored: 30_000, alone: 1_000 } } = options;
  const { random = Math.random, backOff = { base: 250, cap: 30_000 }, commands = usualCommands } = options;
  let monitored = false;
  const net = watchNet(() => (monitored ? every.monitored : every.alone), onChange, signal);
  for (let failures = 0; !signal.aborted; ) {
    const startedAt = performance.now();
    const ended = await listen(commands, signal, onChange, (state) => {
      monitored = state;
    });
    if (signal.aborted) break;
    failures = performance.now() - startedAt > 60_000 ? 1 : failures + 1;
    if (failures === 1) log.warn({ because: ended }, "the kernel's changes are looked for every second for now");
    await pause(backOffDelay(failures, random(), backOff), signal);
  }
  await net;
}

async function watchNet(every: () => number, onChange: () => void, signal: AbortSignal): Promise<void> {
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
 * `ip` would outlive a moor that was killed, until the kernel next has something to tell. So a shell stands between: it holds
 * nothing but the reading end of a pipe from moor, and when that pipe ends, however it does, it ends `ip`. Ctrl-C reaches all
 * programs of a terminal at once, and `ip` does not heed it: so the shell must not either.
 */
const untilPipeEnds = 'trap "" INT; "$0" -o monitor address link & exec >&-; read -r _; kill $!; wait';

/** Resolves with the reason when the teller has ended. */
async function listen(
  commands: readonly string[],
  signal: AbortSignal,
  onChange: () => void,
  onState: (monitored: boolean) => void,
): Promise<string> {
  const found = await runIp(["-V"], { commands, signal }).catch(() => undefined);
  if (found === undefined) return "there is no `ip` on this machine";
  const shell = spawn("/bin/sh", ["-c", untilPipeEnds, found.command], { stdio: ["pipe", "pipe", "ignore"] });
  const stop = () => shell.stdin.destroy();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  shell.stdin.on("error", () => undefined);
  shell.on("error", () => undefined);
  shell.stdout.on("data", onChange);
  const late = setTimeout(onChange, listeningBy);
  onState(true);
  try {
    // Only `ip` has the other end: it closes when `ip` has ended, by itself or by the shell.
    await once(shell.stdout, "close");
    return "`ip monitor` ended";
  } finally {
    onState(false);
    clearTimeout(late);
    signal.removeEventListener("abort", stop);
    stop();
    if (!signal.aborted) onChange();
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  wait(ms, undefined, { signal }).catch(() => undefined);
