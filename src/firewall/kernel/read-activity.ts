import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** The kernel's counters of what the machine has been doing, at one moment. */
export type ActivitySample = {
  /** The first line of /proc/stat. */
  readonly cpu: CpuTicks;
  readonly processors: number;
  /** /proc/loadavg, unparsed. */
  readonly load: string;
  /** /proc/meminfo, in KiB. */
  readonly memory: Readonly<Record<string, number>>;
  /** Seconds. */
  readonly uptime: number;
  readonly threads: readonly ThreadSample[];
};

export type CpuTicks = Readonly<Record<"user" | "nice" | "system" | "interrupt" | "idle" | "total", number>>;

export type ThreadSample = {
  readonly pid: number;
  readonly tid: number;
  readonly user: string;
  readonly processName: string;
  readonly name: string;
  readonly isKernel: boolean;
  /** The state letter of /proc/PID/stat. */
  readonly state: string;
  readonly priority: number;
  readonly nice: number;
  readonly processor: number;
  /** KiB, of the whole process. */
  readonly size: number;
  readonly resident: number;
  /** Processor time used so far. */
  readonly ticks: number;
};

/**
 * Reads /proc. Leaves out threads that end meanwhile, and those that this user may not see (`hidepid`, systemd's
 * ProtectProc).
 */
export async function readActivity(proc = "/proc", passwd = "/etc/passwd"): Promise<ActivitySample> {
  const text = (name: string) => readFile(join(proc, name), "utf8");
  const [stat, load, meminfo, uptime, names] = await Promise.all([
    text("stat"),
    text("loadavg"),
    text("meminfo"),
    text("uptime"),
    readFile(passwd, "utf8").catch(() => ""),
  ]);
  const users = new Map(names.split("\n").map((line) => [line.split(":")[2] ?? "", line.split(":")[0] ?? ""]));
  const threads: ThreadSample[] = [];
  // One process at a time: reading hundreds of files in parallel would block everything else.
  for (const pid of (await readdir(proc)).filter((name) => /^\d+$/.test(name)))
    threads.push(...(await readProcess(join(proc, pid), users)));
  return {
    cpu: parseCpu(stat),
    processors: stat.match(/^cpu\d/gm)?.length ?? 1,
    load,
    memory: parseMemory(meminfo),
    uptime: Number(uptime.split(" ")[0]),
    threads,
  };
}

export function parseCpu(stat: string): CpuTicks {
  const fields = /^cpu +(.*)$/m.exec(stat)?.[1]?.split(" ").map(Number);
  if (fields === undefined || fields.some(Number.isNaN)) throw new Error("/proc/stat has no line for all processors");
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0] = fields;
  const [interrupt, resting] = [irq + softirq, idle + iowait];
  // The time of guests is already included in user and nice.
  const total = user + nice + system + interrupt + resting + steal;
  return { user, nice, system, interrupt, idle: resting, total };
}

export const parseMemory = (meminfo: string): Readonly<Record<string, number>> =>
  Object.fromEntries([...meminfo.matchAll(/^(\w+): +(\d+) kB$/gm)].map(([, name, size]) => [name, Number(size)]));

async function readProcess(folder: string, users: ReadonlyMap<string, string>): Promise<ThreadSample[]> {
  try {
    const [status, tids] = await Promise.all([readFile(join(folder, "status"), "utf8"), readdir(join(folder, "task"))]);
    const stats = await Promise.all(
      tids.map((tid) => readFile(join(folder, "task", tid, "stat"), "utf8").catch(() => "")),
    );
    return stats.filter((stat) => stat !== "").map((stat) => parseThread(status, stat, users));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ESRCH" || code === "EACCES") return [];
    throw error;
  }
}

/** `proc_pid_stat(5)`: the name is in parentheses and may itself contain spaces and parentheses. */
export function parseThread(status: string, stat: string, users: ReadonlyMap<string, string>): ThreadSample {
  const of = (name: string) => new RegExp(`^${name}:\\s+(\\S+)`, "m").exec(status)?.[1];
  const [open, close] = [stat.indexOf("("), stat.lastIndexOf(")")];
  const fields = stat.slice(close + 2).split(" ");
  const number = (field: number) => Number(fields[field - 3] ?? 0);
  const uid = of("Uid") ?? "";
  return {
    pid: Number(of("Tgid")),
    tid: Number(stat.slice(0, open)),
    user: users.get(uid) ?? uid,
    processName: /^Name:\t(.*)$/m.exec(status)?.[1] ?? "",
    name: stat.slice(open + 1, close),
    // Kernel threads have no memory.
    isKernel: of("VmSize") === undefined && of("State") !== "Z",
    state: fields[0] ?? "",
    priority: number(18),
    nice: number(19),
    processor: number(39),
    size: Number(of("VmSize") ?? 0),
    resident: Number(of("VmRSS") ?? 0),
    ticks: number(14) + number(15),
  };
}
