import { type Fault, faultInWords } from "../../core/result.ts";
import type { CommandIo } from "./command-io.ts";

export function printFaults(faults: readonly Fault[], io: CommandIo): void {
  for (const fault of faults) io.err(`${faultText(fault)}\n`);
}

/** For a command line that is not valid: prints why, and returns the exit code. */
export function refuseFaults(faults: readonly Fault[], io: CommandIo): number {
  printFaults(faults, io);
  return 2;
}

export const faultText = (fault: Fault): string => `${fault.where}: ${faultInWords(fault)}`;
