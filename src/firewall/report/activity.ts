import type { ActivitySample, CpuTicks, ThreadSample } from "../kernel/read-activity.ts";

/** Linux's unit for programs, the same on every machine (`USER_HZ`). */
const ticksPerSecond = 100;

/**
 * The output of `top` on FreeBSD: header lines that clients parse by number and pattern, and a row per thread with text
 * cells. Shares are measured between the two samples.
 */
export function activityOf(before: ActivitySample, after: ActivitySample, at: Date) {
  const passed = (after.cpu.total - before.cpu.total) / Math.max(1, after.processors);
  const ticksBefore = new Map(before.threads.map(({ tid, ticks }) => [tid, ticks]));
  const shareOf = ({ tid, ticks }: ThreadSample) =>
    (100 * (ticks - (ticksBefore.get(tid) ?? ticks))) / Math.max(1, passed);
  const rows = after.threads.map((thread) => ({ thread, share: Math.max(0, shareOf(thread)) }));
  return {
    headers: [loadLine(after, at), threadLine(after), cpuLine(before.cpu, after.cpu), ...memoryLines(after.memory)],
    details: rows.toSorted((a, b) => b.share - a.share).map(({ thread, share }) => threadRow(thread, share)),
  };
}

function loadLine({ load, uptime }: ActivitySample, at: Date): string {
  const [one, five, fifteen, , last] = load.trim().split(/\s+/);
  const days = Math.floor(uptime / 86_400);
  const clock = (seconds: number) => new Date(seconds * 1000).toISOString().slice(11, 19);
  const averages = [one, five, fifteen].map((each) => each?.padStart(5)).join(", ");
  return `last pid: ${last};  load averages: ${averages}  up ${days}+${clock(uptime % 86_400)}    ${at.toTimeString().slice(0, 8)}`;
}

function threadLine({ load }: ActivitySample): string {
  const [, running = 0, total = 0] = (/(\d+)\/(\d+)/.exec(load) ?? []).map(Number);
  return `${total} threads:   ${running} running, ${total - running} sleeping`;
}

function cpuLine(before: CpuTicks, after: CpuTicks): string {
  const total = Math.max(1, after.total - before.total);
  const share = (part: keyof CpuTicks) => ((100 * (after[part] - before[part])) / total).toFixed(1).padStart(4);
  const parts = (["user", "nice", "system", "interrupt", "idle"] as const).map((part) => `${share(part)}% ${part}`);
  return `CPU: ${parts.join(", ")}`;
}

function memoryLines(memory: ActivitySample["memory"]): string[] {
  const of = (...names: string[]) => sizeText(names.reduce((sum, name) => sum + (memory[name] ?? 0), 0));
  const wired = of("Unevictable", "SUnreclaim", "KernelStack", "PageTables");
  const used = `Mem: ${of("Active")} Active, ${of("Inactive")} Inact, ${wired} Wired, ${of("Buffers")} Buf`;
  const swap = memory.SwapTotal ? [`Swap: ${of("SwapTotal")} Total, ${of("SwapFree")} Free`] : [];
  return [`${used}, ${of("MemFree")} Free`, ...swap];
}

/** Without command lines, which may contain secrets. */
function threadRow(thread: ThreadSample, share: number): Readonly<Record<string, string>> {
  const { pid, tid, user, priority, nice, size, resident, processor, ticks, isKernel, processName, name } = thread;
  const seconds = Math.floor(ticks / ticksPerSecond);
  const command = name === processName ? name : `${processName}{${name}}`;
  return {
    C: String(processor),
    PID: String(pid),
    THR: String(tid),
    USERNAME: user,
    PRI: String(priority),
    NICE: String(nice),
    SIZE: sizeText(size),
    RES: sizeText(resident),
    STATE: states[thread.state] ?? thread.state,
    TIME: `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`,
    WCPU: `${share.toFixed(2)}%`,
    COMMAND: isKernel ? `[${command}]` : command,
  };
}

/** FreeBSD's words. */
const states: Readonly<Record<string, string>> = {
  R: "RUN",
  S: "sleep",
  D: "disk",
  I: "idle",
  Z: "zomb",
  T: "stop",
  t: "stop",
};

/** `top` prints up to four digits and a unit. */
function sizeText(kibibytes: number): string {
  if (kibibytes < 10_000) return `${kibibytes}K`;
  const mebibytes = Math.round(kibibytes / 1024);
  return mebibytes < 10_000 ? `${mebibytes}M` : `${Math.round(mebibytes / 1024)}G`;
}
