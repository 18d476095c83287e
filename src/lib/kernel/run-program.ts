import { spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { join, resolve } from "node:path";

export type Program = {
  readonly file: string;
  readonly args: readonly string[];
  readonly folder: string;
  /** Variables for it, besides PATH and LANG. */
  readonly env?: Readonly<Record<string, string>>;
};

export type ProgramLimits = {
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** What it has started may go on after its success. */
  readonly mayLeave?: boolean;
};

export type ProgramEnd =
  /** `stderr`: the end of what it printed there. */
  | { readonly kind: "exited"; readonly code: number; readonly stdout: string; readonly stderr: string }
  | { readonly kind: "not-started"; readonly code: string }
  | { readonly kind: "killed"; readonly because: "signal" | "timeout" | "too-long" | "aborted" };

/** The variables of moor's environment may contain secrets, so none are passed on. */
const environment = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LANG: "C" };

/** Why it could not be started: undefined if it could. A name without a slash is looked for in the PATH. */
export function programFault({ file, folder }: Pick<Program, "file" | "folder">): string | undefined {
  const places = file.includes("/")
    ? [resolve(folder, file)]
    : environment.PATH.split(":").map((each) => join(each, file));
  const codes = places.map((place) => {
    try {
      accessSync(place, constants.X_OK);
      return statSync(place).isFile() ? undefined : "EACCES";
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? "unknown";
    }
  });
  return codes.includes(undefined) ? undefined : (codes.find((code) => code !== "ENOENT") ?? "ENOENT");
}

const longestError = 2_000;

/** Milliseconds to read what a program has printed, after its end. */
const drainMs = 1_000;

/**
 * Runs a program without a shell, and waits until it ends. It gets its own process group: whatever it started is killed
 * with it, so that nothing keeps running or holds the pipes open; with `mayLeave`, only if it fails. What has left the
 * group (`setsid`) is not reached.
 */
export function runProgram(
  { file, args, folder, env = {} }: Program,
  { timeoutMs, maxBytes, mayLeave = false }: ProgramLimits,
  signal: AbortSignal,
): Promise<ProgramEnd> {
  if (signal.aborted) return Promise.resolve({ kind: "killed", because: "aborted" });
  const { promise, resolve } = Promise.withResolvers<ProgramEnd>();
  const child = spawn(file, args, {
    cwd: folder,
    env: { ...env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const chunks: Buffer[] = [];
  let [size, stderr] = [0, ""];
  const end = (result: ProgramEnd) => {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
    if (!(mayLeave && result.kind === "exited" && result.code === 0)) killGroup(child.pid);
    child.stdout.destroy();
    child.stderr.destroy();
    resolve(result);
  };
  const abort = () => end({ kind: "killed", because: "aborted" });
  let timer = setTimeout(() => end({ kind: "killed", because: "timeout" }), timeoutMs);
  signal.addEventListener("abort", abort, { once: true });
  child.stdout.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) end({ kind: "killed", because: "too-long" });
    else chunks.push(chunk);
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr = (stderr + chunk.toString("utf8")).slice(-longestError);
  });
  child.once("error", ({ code = "unknown" }: NodeJS.ErrnoException) => end({ kind: "not-started", code }));
  const exited = (code: number | null) => {
    if (code === null) end({ kind: "killed", because: "signal" });
    else end({ kind: "exited", code, stdout: Buffer.concat(chunks).toString("utf8"), stderr });
  };
  // What it leaves running would hold the pipes open, and so does what has left its process group.
  child.once("exit", (code) => {
    if (!(mayLeave && code === 0)) killGroup(child.pid);
    clearTimeout(timer);
    timer = setTimeout(() => exited(code), drainMs);
  });
  child.once("close", exited);
  return promise;
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has already ended, with everything that it started.
  }
}
