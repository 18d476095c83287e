import { join } from "node:path";
import { type Ended, type StartedProcess, startProcess } from "./started-process.ts";

/** A network namespace: nobody else sees its interfaces, addresses and ports. It does not need root. */
export type Namespace = {
  /** Starts a program in it. It is killed when the namespace is closed or the tests die. */
  start(command: readonly [string, ...string[]], options?: StartOptions): StartedProcess;
  /** Runs a program in it to its end. */
  run(command: readonly [string, ...string[]], options?: StartOptions): Promise<Ended>;
  /** `ip link add wan0 type veth`, one command per line; throws if one of them fails. */
  ip(...lines: readonly string[]): Promise<void>;
  /** What to put before a command, to start it in the namespace by other means. */
  entering(cwd: string): readonly string[];
  close(): Promise<void>;
};

export type StartOptions = {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A message channel, as with `child_process.fork`. */
  readonly channel?: boolean;
};

export const repository = join(import.meta.dirname, "..", "..");
export const node = join(repository, "node_modules", ".bin", "node");

/** Like an ordinary user's shell, but with `ip` in the path, and with a compile cache for the test run. */
export const environment = {
  PATH: `${process.env.PATH}:/usr/sbin:/sbin`,
  HOME: "/nonexistent",
  LANG: "C.UTF-8",
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
};

export type NamespaceOptions = {
  /** Existing folders that appear empty in the namespace. */
  readonly emptied?: readonly string[];
  /** Keeps the users of this machine, all of which a container or a chroot may need. The tests must run as root. */
  readonly asRoot?: boolean;
};

export async function openNamespace({ emptied = [], asRoot = false }: NamespaceOptions = {}): Promise<Namespace> {
  // Only its end of the pipe keeps it alive: however the tests end, the namespace ends with them.
  const mounts = emptied.map((folder) => `mount -t tmpfs tmpfs ${folder} && `).join("");
  const hold = `${mounts}ip link set lo up && echo ready && exec cat`;
  const kinds = [...(asRoot ? [] : ["--user"]), "--net", ...(emptied.length > 0 ? ["--mount"] : [])];
  const holder = startProcess(["unshare", ...(asRoot ? [] : ["--map-root-user"]), ...kinds, "sh", "-c", hold], {
    env: environment,
    stdio: ["pipe", "pipe", "pipe"],
  });
  await holder.says(/ready/).catch((error: unknown) => {
    throw new Error("the network namespace could not be created; does this kernel allow user namespaces?", {
      cause: error,
    });
  });
  const inside = (cwd: string) =>
    [
      ...["nsenter", ...kinds, "--preserve-credentials", `--wdns=${cwd}`, "--target", String(holder.pid)],
      ...["setpriv", "--pdeathsig", "KILL"],
    ] as [string, ...string[]];
  const started: StartedProcess[] = [];

  const start: Namespace["start"] = (command, { cwd = repository, env = {}, channel = false } = {}) => {
    const process = startProcess([...inside(cwd), ...command], {
      cwd,
      env: { ...environment, ...env },
      stdio: ["ignore", "pipe", "pipe", ...(channel ? ["ipc" as const] : [])],
    });
    started.push(process);
    return process;
  };
  return {
    start,
    entering: inside,
    run: (command, options) => start(command, options).ended,
    async ip(...lines) {
      // All in one process: entering the namespace takes longer than the commands.
      const script = lines.map((line) => `ip ${line}`).join("\n");
      const { code, err } = await start(["sh", "-ec", script]).ended;
      if (code !== 0) throw new Error(`${script}: ${err}`);
    },
    async close() {
      for (const process of started.toReversed()) await process.stop("SIGKILL");
      await holder.stop("SIGKILL");
    },
  };
}
