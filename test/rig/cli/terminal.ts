import type { CommandIo } from "../../../src/cli/io/command-io.ts";

/** The terminal of a verb under test, with everything it printed. */
export type Terminal = { readonly io: CommandIo; readonly printed: { out: string; err: string } };

export function openTerminal(cwd: string, signal = new AbortController().signal): Terminal {
  const printed = { out: "", err: "" };
  const io: CommandIo = {
    ...{ program: "moor", env: {}, cwd, signal },
    out: (text) => {
      printed.out += text;
    },
    err: (text) => {
      printed.err += text;
    },
  };
  return { io, printed };
}
