import { type Fault, faultInWords } from "../../core/result.ts";
import type { CommandIo } from "./command-io.ts";

export function printFaults(faults: readonly Fault[], io: CommandIo): void {
  for (const fault of faults) io.err(`${faultText(fault)}\n`);
}

export const faultText = (fault: Fault): string => `${fault.where}: ${faultInWords(fault)}`;
