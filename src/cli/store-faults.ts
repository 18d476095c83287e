import type { Fault } from "../core/result.ts";
import type { CheckCounts } from "../records/store-check.ts";
import type { CommandIo } from "./command-io.ts";

export const faultLine = ({ where, message, todo }: Fault): string =>
  `${where}: ${message}${todo === undefined ? "" : `; ${todo}`}\n`;

export function tellFaults(faults: readonly Fault[], io: CommandIo): void {
  for (const fault of faults) io.err(faultLine(fault));
}

export const faultsInWords = (count: number): string => (count === 1 ? "one fault" : `${count} faults`);

export const countsInWords = ({ zones, records, changes }: CheckCounts): string =>
  `${counted(zones, "zone")}, ${counted(records, "record")} and ${counted(changes, "change")}`;

export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
