import { spawn } from "node:child_process";

export type Program = {
  readonly file: string;
  readonly args: readonly string[];
  readonly folder: string;
  /** Variables for it, besides PATH and LANG. */
  readonly env?: Readonly<Record<string, string>>;
};

export type ProgramLimits = { readonly timeoutMs: number; readonly maxBytes: number };

export type ProgramEnd =
  /** `stderr`: the end of what it printed there. */
  | { readonly kind: "exited"; readonly code: number; readonly stdout: string; readonly stderr: string }
  | { readonly kind: "not-started"; readonly code: string }
  | { readonly kind: "killed"; readonly because: "signal" | "timeout" | "too-long" | "aborted" };

/** The variables of moor's environment may contain secrets, so none are passed on. */
const environment = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LANG: "C" };

const longestError = 2_000;

/** Milliseconds to read what a program has printed, after its end. */
const drainMs = 1_000;

/**
 * Runs a program without a shell, and waits until it ends. It gets its own process group: whatever it started is killed
 * with it, so that nothing keeps running or holds the pipes open.
 */
export function runProgram(
  { file, args, folder, env = {} }: Program,
  { timeoutMs, maxBytes }: ProgramLimits,
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
    killGroup(child.pid);
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
    killGroup(child.pid);
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
