import type { CheckCounts } from "../../records/tools/check/check.ts";

export const faultsInWords = (count: number): string => (count === 1 ? "one fault" : `${count} faults`);

export const countsInWords = ({ zones, records, changes }: CheckCounts): string =>
  `${counted(zones, "zone")}, ${counted(records, "record")} and ${counted(changes, "change")}`;

export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

export const inMegabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;
