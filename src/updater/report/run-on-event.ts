import { printable } from "../../core/visible-text.ts";
import { type ProgramEnd, runProgram } from "../../lib/kernel/run-program.ts";
import type { RunConfig } from "../config/outlets.ts";
import type { Notice } from "./reporter.ts";

/** Output beyond this is not read; the end of it is in the log if the program fails. */
const longestOutput = 64 * 1024;
const longestText = 1_000;

/** Runs the program, without a shell. Returns undefined on success, otherwise what is wrong. */
export async function runOn(
  { command, timeout }: RunConfig,
  event: string,
  notice: Notice,
  signal: AbortSignal,
): Promise<string | undefined> {
  const limits = { timeoutMs: timeout, maxBytes: longestOutput, mayLeave: true };
  const end = await runProgram({ ...command, env: environmentOf(event, notice) }, limits, signal);
  const wrong = faultOf(end, timeout);
  return wrong === undefined ? undefined : `the program ${printable(command.file)} ${wrong}`;
}

/** What the program is told. Texts of services cannot end a variable or hide in it. */
function environmentOf(event: string, { message, change, fields }: Notice): Readonly<Record<string, string>> {
  const [name = "", type = ""] = (fields.name ?? "").split(" ");
  const texts = {
    MOOR_EVENT: event,
    MOOR_NAME: name,
    MOOR_TYPE: type,
    MOOR_MESSAGE: message,
    MOOR_OLD: change?.old ?? "",
    MOOR_NEW: change?.new ?? "",
    MOOR_BECAUSE: fields.because ?? "",
  };
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, printable(text.slice(0, longestText))]));
}

function faultOf(end: ProgramEnd, timeout: number): string | undefined {
  switch (end.kind) {
    case "exited": {
      if (end.code === 0) return undefined;
      const output = printable(`${end.stdout.slice(-longestText)}${end.stderr.slice(-longestText)}`.trim());
      return `failed with code ${end.code}${output && `: ${output}`}`;
    }
    case "not-started":
      return `cannot be started (${end.code})`;
    case "killed":
      return end.because === "timeout"
        ? `did not end within ${timeout / 1_000} s, and was killed`
        : `was killed (${end.because})`;
    default:
      return end satisfies never;
  }
}
