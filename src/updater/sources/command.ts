import { parseAddress } from "../../core/addresses/address.ts";
import { printable } from "../../core/visible-text.ts";
import { type Program, type ProgramEnd, runProgram } from "../../lib/kernel/run-program.ts";
import { mapping, needed } from "../../lib/settings/mapping.ts";
import { duration } from "../../lib/settings/setting.ts";
import { program } from "../config/rules.ts";
import { reportConnection } from "./only-connection.ts";
import { neverPushes, onlyDevice, type SourceKind, type SourceReading, unavailable } from "./source.ts";

export type CommandSource = { readonly command: Program; readonly timeout?: number };

/** Any program that knows the addresses. */
export const command = {
  ...mapping(
    {
      command: needed(
        program(
          "A program that prints addresses, one per line. For arguments, write a list; no shell is used.",
          "/usr/local/bin/my-address",
        ),
      ),
      timeout: duration("How long the program may take.", "30s", { default: "15s" }),
    },
    {
      title: "Source: command",
      description: "A program that prints addresses, IPv4 and IPv6, one per line.",
      schema: { examples: [{ kind: "command", command: "/usr/local/bin/my-address" }] },
    },
  ),
  only: onlyDevice,
  can: { push: false, prefix: false, lifetimes: false },
  open: async ({ command, timeout = 15_000 }: CommandSource) => ({
    read: async (signal) =>
      readingOf(command, await runProgram(command, { timeoutMs: timeout, maxBytes: longestOutput }, signal), timeout),
    follow: neverPushes,
    close: () => undefined,
  }),
} satisfies SourceKind<CommandSource>;

const longestOutput = 64 * 1024;

function readingOf({ file }: Program, end: ProgramEnd, timeout: number): SourceReading {
  const failed = (what: string, todo: string) => unavailable(`the program ${printable(file)} ${what}`, todo);
  switch (end.kind) {
    case "not-started":
      return failed(`cannot be started (${end.code})`, notStarted[end.code] ?? "check the program");
    case "killed":
      return failed(...killed[end.because](timeout));
    case "exited": {
      const output = printable(end.stderr);
      if (end.code === 0) return addressesIn(end.stdout, failed);
      return failed(`failed with code ${end.code}${output && `: ${output}`}`, "run it by hand to see why");
    }
    default:
      return end satisfies never;
  }
}

const notStarted: Readonly<Record<string, string>> = {
  ENOENT: "correct the path; write a program with arguments as a list: `command: [PROGRAM, ARGUMENT]`",
  EACCES: "make it executable: chmod +x",
};

type Killed = Extract<ProgramEnd, { kind: "killed" }>["because"];

const killed: Readonly<Record<Killed, (timeout: number) => [what: string, todo: string]>> = {
  signal: () => ["was killed", "run it by hand to see why"],
  timeout: (ms) => [`did not end within ${ms / 1_000} s, and was killed`, "make it faster, or set a longer `timeout:`"],
  "too-long": () => ["printed more than 64 KiB, and was killed", "make it print only addresses"],
  aborted: () => ["was stopped", "no action needed: moor stopped it"],
};

/** One line that is not an address makes the whole output unreliable. */
function addressesIn(output: string, failed: (what: string, todo: string) => SourceReading): SourceReading {
  const lines = output.split(/\r?\n/).filter((line) => line !== "");
  if (lines.length === 0) return failed("printed no address", "make it print one address per line");
  const addresses = lines.map(parseAddress);
  const wrong = addresses.indexOf(undefined);
  if (wrong >= 0)
    return failed(
      `printed "${printable(lines[wrong] ?? "")}", which is not an address`,
      "make it print only addresses",
    );
  const of = (family: "ipv4" | "ipv6") => addresses.flatMap((each) => (each?.family === family ? [each.text] : []));
  return { kind: "report", report: reportConnection(of("ipv4"), of("ipv6")) };
}
