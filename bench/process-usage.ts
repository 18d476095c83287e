import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

/** `cpu` is in seconds, the memory in megabytes. `own`: not shared with other processes that run the same program. */
export type Usage = { readonly cpu: number; readonly resident: number; readonly own: number; readonly peak: number };

/** The CPU time that a process has used so far, and its current and maximum memory. */
export function usageOf(pid: number): Usage {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const megabytes = (key: string) => (Number(new RegExp(`^${key}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1024) / 1e6;
  return { cpu: ticks / 100, resident: megabytes("VmRSS"), own: megabytes("RssAnon"), peak: megabytes("VmHWM") };
}

/** The usage of a program that never ends, `after` milliseconds after its start. */
export async function usageOfIdle(
  [program = "", ...args]: readonly string[],
  after: number,
  cwd?: string,
): Promise<Usage> {
  const child = spawn(program, args, { cwd, stdio: "ignore" });
  await sleep(after);
  const usage = usageOf(child.pid ?? -1);
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
  return usage;
}

/** CPU milliseconds, user and system together, of a program that runs to its end. */
export async function cpuOfRun(
  words: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv },
): Promise<number> {
  const quoted = words.map((word) => `'${word}'`).join(" ");
  const script = `TIMEFORMAT='%U %S'; time ${quoted} >/dev/null 2>/dev/null`;
  const { stderr } = await promisify(execFile)("bash", ["--norc", "-c", script], options);
  const [user = Number.NaN, system = Number.NaN] = stderr.trim().split("\n").at(-1)?.split(" ").map(Number) ?? [];
  return 1000 * (user + system);
}

export async function inTurn<T>(times: number, measure: () => Promise<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for (let i = 0; i < times; i++) all.push(await measure());
  return all;
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
