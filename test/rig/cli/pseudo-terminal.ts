import { type ChildProcess, spawn } from "node:child_process";
import { builtProgram } from "../bundle.ts";
import { involve } from "../involved-processes.ts";
import { until } from "../until.ts";

/** moor as a process at a real terminal, and a user who reads and types. */
export type Person = {
  /** Reads until the text appears, starting where the last read ended. */
  readonly reads: (pattern: RegExp) => Promise<void>;
  readonly types: (text: string) => void;
  /** All output, without colours and cursor movements. */
  readonly shown: () => string;
  readonly ended: Promise<number | null>;
};

/** `before`: words before the command, such as those that enter a network namespace. */
export function sitDown(
  words: readonly string[],
  cwd: string,
  before: readonly string[] = [],
): Person & { readonly leave: () => void } {
  const command = [...before, process.execPath, builtProgram(), ...words].map(quoted).join(" ");
  // `script` gives its command a new terminal, even if this process has none.
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, TERM: "xterm", HOME: cwd };
  const child: ChildProcess = spawn("script", ["-qec", `stty cols 200 rows 60; exec ${command}`, "/dev/null"], {
    cwd,
    env,
  });
  let [raw, read] = ["", 0];
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    raw += text;
  });
  const shown = () => raw.replaceAll(escapes, "");
  involve({ name: command, output: shown, hasEnded: () => child.exitCode !== null });
  return {
    shown,
    reads: async (pattern) => {
      const find = () => pattern.exec(shown().slice(read));
      await until(() => find() !== null || child.exitCode !== null, {
        what: () => `${pattern} at the terminal`,
      });
      const found = find();
      if (found === null) throw new Error(`the process ended without printing ${pattern}: ${shown().slice(read)}`);
      read += found.index + found[0].length;
    },
    types: (text) => void child.stdin?.write(text),
    ended: new Promise((resolve) => child.once("close", resolve)),
    leave: () => void child.kill("SIGKILL"),
  };
}

const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;
/** Built from a string: linters reject control characters in a regular expression. */
const escapes = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[A-Za-z]|\r`, "g");
