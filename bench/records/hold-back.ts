import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";

/** In microseconds. Short, so that pauses are short. */
const period = 5_000;

/** Limits a process to this share of one processor until it is released; undefined if the cgroup cannot be created. */
export function holdBack(pid: number, part: number): (() => void) | undefined {
  const oneTree = existsSync("/sys/fs/cgroup/cgroup.controllers");
  const root = oneTree ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu";
  const group = `${root}/moor-bench-${pid}`;
  const quota = Math.round(part * period);
  try {
    mkdirSync(group);
    if (oneTree) writeFileSync(`${group}/cpu.max`, `${quota} ${period}`);
    else {
      writeFileSync(`${group}/cpu.cfs_period_us`, String(period));
      writeFileSync(`${group}/cpu.cfs_quota_us`, String(quota));
    }
    writeFileSync(`${group}/cgroup.procs`, String(pid));
  } catch {
    return undefined;
  }
  return () => {
    writeFileSync(`${root}/cgroup.procs`, String(pid));
    rmdirSync(group);
  };
}
