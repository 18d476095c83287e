import type { ToolProgress } from "../../records/tools/tables/table.ts";
import type { CommandIo } from "../io/command-io.ts";

export type Progress = {
  readonly tell: (progress: ToolProgress) => void;
  /** Call it before anything else is printed. */
  readonly end: () => void;
};

const width = 30;
const drawEvery = 100;
const lineEvery = 5_000;

/** A progress bar on a terminal; otherwise a line every few seconds, for logs. */
export function showProgress(io: CommandIo, now: () => number = () => performance.now()): Progress {
  const every = io.isTerminal ? drawEvery : lineEvery;
  let [last, drawn] = [now(), false];
  return {
    tell: ({ what, done, total }) => {
      if (now() - last < every) return;
      last = now();
      const part = total === 0 ? 1 : Math.min(done / total, 1);
      const percent = `${Math.floor(part * 100)}%`;
      if (!io.isTerminal) {
        io.err(`${what}: ${percent}, ${done} of ${total} rows\n`);
        return;
      }
      const full = Math.round(part * width);
      io.err(`\r${what} [${"#".repeat(full)}${"-".repeat(width - full)}] ${percent.padStart(4)}`);
      drawn = true;
    },
    end: () => {
      if (drawn) io.err(`\r${" ".repeat(width + 40)}\r`);
      drawn = false;
    },
  };
}
