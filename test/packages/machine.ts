import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Ended, startProcess } from "../rig/started-process.ts";
import { until } from "../rig/until.ts";

/** A booted root filesystem: systemd is its first process, and it has its own network. */
export type Machine = {
  /** Runs a shell script in it, and returns what it printed; throws if it fails. */
  run(script: string): Promise<string>;
  /** Runs a program of this machine in its network. */
  beside(...command: readonly [string, ...string[]]): Promise<Ended>;
  stop(): Promise<void>;
};

/**
 * systemd wants a control group for its services, with its own view of them. This machine's hierarchy may be mounted in
 * two places.
 */
const groups = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"];

const boot = `
mount --bind "$0" "$0"; cd "$0"
mount -t proc proc proc; mount -t sysfs -o ro sysfs sys; mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs run; mount -t tmpfs -o mode=1777 tmpfs tmp; mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty; do touch dev/$device; mount --bind /dev/$device dev/$device; done
mkdir dev/pts dev/shm; mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts; ln -s pts/ptmx dev/ptmx; mount -t tmpfs tmpfs dev/shm
ip link set lo up
mkdir -p before; pivot_root . before; umount -l before
exec env -i container=moor-test PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd
`;

export async function bootMachine(root: string): Promise<Machine> {
  const group = makeGroup();
  const spaces = ["--pid", "--mount", "--uts", "--ipc", "--net", "--cgroup"];
  const enter = `echo $$ > ${group}/cgroup.procs && exec unshare ${spaces.join(" ")} --fork --kill-child sh -ec "$1" "$0"`;
  const holder = startProcess(["sh", "-c", enter, root, boot], {});
  const init = async () => (await startProcess(["pgrep", "-P", String(holder.pid)], {}).ended).out.trim();
  let pid = "";
  const isForked = async () => {
    pid = await init();
    return pid !== "";
  };
  await until(isForked, { what: () => `a first process: ${holder.err()}` });
  const entered = (script: string) =>
    startProcess(["nsenter", "--target", pid, "--all", "sh", "-ec", script], {}).ended;
  const isRunning = async () => /running|degraded/.test((await entered("systemctl is-system-running")).out);
  await until(isRunning, { what: () => `a booted machine: ${holder.out()}${holder.err()}` });
  return {
    async run(script) {
      const { code, out, err } = await entered(script);
      if (code !== 0) throw new Error(`${script}\nexited with ${code}: ${out}${err}`);
      return out;
    },
    beside: (...command) => startProcess(["nsenter", "--target", pid, "--net", ...command], {}).ended,
    async stop() {
      await holder.stop("SIGKILL");
      writeFileSync(join(group, "cgroup.kill"), "1");
      // The kernel keeps a group until its last process is gone.
      const gone = async () =>
        (await startProcess(["find", group, "-depth", "-type", "d", "-delete"], {}).ended).code === 0;
      await until(gone, { what: () => `the end of all processes in ${group}` });
    },
  };
}

function makeGroup(): string {
  for (const folder of groups) {
    try {
      const group = join(folder, `moor-test-${process.pid}`);
      mkdirSync(group);
      return group;
    } catch {}
  }
  throw new Error("no control group of version 2 can be made on this machine");
}
