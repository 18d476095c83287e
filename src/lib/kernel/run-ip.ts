import { type ExecFileException, execFile } from "node:child_process";

export type RunIpOptions = {
  readonly signal?: AbortSignal;
  /** Where `ip` may be; a service manager's PATH often lacks the two sbin folders. */
  readonly commands?: readonly string[];
  /** Milliseconds for one run of `ip`. */
  readonly limit?: number;
};

export const usualCommands = ["ip", "/usr/sbin/ip", "/sbin/ip"];

/** The output of `ip`, and its path; undefined if there is none, or only one that cannot print JSON. */
export async function runIp(
  args: readonly string[],
  options: RunIpOptions = {},
): Promise<{ readonly command: string; readonly printed: string } | undefined> {
  for (const command of options.commands ?? usualCommands) {
    const printed = await runOne(command, args, options);
    if (printed !== undefined) return { command, printed };
  }
  return undefined;
}

function runOne(
  command: string,
  args: readonly string[],
  { signal, limit = 5_000 }: RunIpOptions,
): Promise<string | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  const limits = {
    maxBuffer: 32 * 1024 * 1024,
    timeout: limit,
    killSignal: "SIGKILL",
    signal,
  } as const;
  execFile(command, args, limits, (error, stdout, stderr) => {
    if (error === null) resolve(stdout);
    else if (error.code === "ENOENT" || printsNoJson(stderr)) resolve(undefined);
    else
      reject(
        new Error(`\`${command} ${args.join(" ")}\` failed: ${whyFailed(error, stderr, limit)}`, { cause: error }),
      );
  });
  return promise;
}

/** BusyBox, and iproute2 before 4.13. */
const printsNoJson = (stderr: string): boolean => /busybox|unrecognized option|is unknown, try/i.test(stderr);

function whyFailed(error: ExecFileException, stderr: string, limit: number): string {
  if (error.name === "AbortError") return "stopped";
  if (error.signal === "SIGKILL" && typeof error.code !== "string") return `timed out after ${limit} ms`;
  if (stderr.trim() === "" && typeof error.code === "number")
    return `it ended with code ${error.code} and printed no error`;
  return stderr.trim() || error.message;
}
