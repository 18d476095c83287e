import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { involve } from "./involved-processes.ts";
import { patience } from "./patience.ts";
import { withSourceLines } from "./readable-stack.ts";
import { until } from "./until.ts";

/** A real process and its output so far. */
export type StartedProcess = {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Standard output and standard error together, in order of arrival. */
  readonly out: () => string;
  readonly err: () => string;
  readonly ended: Promise<Ended>;
  /**
   * Waits until its output, both streams together, contains the text; fails immediately if the process ends without it.
   */
  says(pattern: RegExp): Promise<void>;
  /** Sends the signal and waits for the end. If the process does not end in time, it is killed and this throws. */
  stop(signal?: NodeJS.Signals): Promise<Ended>;
};

export type Ended = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
};

export function startProcess(command: readonly [string, ...string[]], options: SpawnOptions): StartedProcess {
  const [program, ...args] = command;
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
  const texts = { out: "", err: "" };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    texts.out += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    texts.err += text;
  });
  let over = false;
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      over = true;
      resolve({ code, signal, ...texts });
    });
  });
  // If the process cannot be started, the error appears where its end is awaited.
  ended.catch(() => undefined);
  const output = () => withSourceLines(`${command.join(" ")}\n${texts.out}${texts.err}`);
  involve({
    ...{ name: command.join(" "), hasEnded: () => over },
    output: () => withSourceLines(`${texts.out}${texts.err}`),
  });

  return {
    child,
    pid: child.pid ?? -1,
    out: () => texts.out,
    err: () => texts.err,
    ended,
    async says(pattern) {
      const found = () => pattern.test(texts.out) || pattern.test(texts.err);
      await until(() => found() || over, { what: () => `${pattern} from ${command.join(" ")}` });
      if (!found()) throw new Error(`the process ended without printing ${pattern}: ${output()}`);
    },
    async stop(signal = "SIGTERM") {
      if (!over) child.kill(signal);
      const late = setTimeout(() => child.kill("SIGKILL"), patience);
      const how = await ended;
      clearTimeout(late);
      if (how.signal === "SIGKILL" && signal !== "SIGKILL")
        throw new Error(`the process did not stop within ${patience} ms: ${output()}`);
      return how;
    },
  };
}
