import { join } from "node:path";
import { type Ended, type StartedProcess, startProcess } from "./started-process.ts";

/** A network of its own: its interfaces, addresses and ports are seen by nobody else. Needs no root. */
export type Namespace = {
  /** Starts a program there. It is killed when the namespace is closed, and when the tests die. */
  start(command: readonly [string, ...string[]], options?: StartOptions): StartedProcess;
  /** Runs a program there to its end. */
  run(command: readonly [string, ...string[]], options?: StartOptions): Promise<Ended>;
  /** `ip link add wan0 type veth`, one command a line; throws when one of them fails. */
  ip(...lines: readonly string[]): Promise<void>;
  close(): Promise<void>;
};

export type StartOptions = {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A channel for messages, as `child_process.fork` has it. */
  readonly channel?: boolean;
};

export const repository = join(import.meta.dirname, "..", "..");
export const node = join(repository, "node_modules", ".bin", "node");

/** As in an ordinary user's shell, but `ip` is found there as well, and a program is compiled only once in a test run. */
export const environment = {
  PATH: `${process.env.PATH}:/usr/sbin:/sbin`,
  HOME: "/nonexistent",
  LANG: "C.UTF-8",
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
};

/** `emptied`: folders that are empty there, whatever is in them elsewhere. They must exist. */
export async function openNamespace({ emptied = [] }: { emptied?: readonly string[] } = {}): Promise<Namespace> {
  // Its end of the pipe is all that keeps it alive: however the tests end, the namespace ends with them.
  const mounts = emptied.map((folder) => `mount -t tmpfs tmpfs ${folder} && `).join("");
  const hold = `${mounts}ip link set lo up && echo ready && exec cat`;
  const kinds = ["--user", "--net", ...(emptied.length > 0 ? ["--mount"] : [])];
  const holder = startProcess(["unshare", "--map-root-user", ...kinds, "sh", "-c", hold], {
    env: environment,
    stdio: ["pipe", "pipe", "pipe"],
  });
  await holder.says(/ready/).catch((error: unknown) => {
    throw new Error("no network namespace could be made; does this kernel let users make them?", { cause: error });
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
    run: (command, options) => start(command, options).ended,
    async ip(...lines) {
      // Of one process: to enter the namespace takes longer than what is done there.
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
