import { type FirewallConfig, settingsOf } from "../config.ts";
import type { KernelRow } from "../kernel/row.ts";
import { phpJson } from "./php-json.ts";
import { type Report, reportOf } from "./report.ts";

/** The machine at one moment, in the kernel's words and in the report's. */
export type Snapshot = {
  readonly rows: readonly KernelRow[];
  readonly report: Report;
  /** The report as it goes over the wire: one line. */
  readonly text: string;
  /** Milliseconds on the clock that the reader was given. */
  readonly takenAt: number;
};

/** Hidden devices are not there: no answer of any kind has them. */
export function takeSnapshot(all: readonly KernelRow[], config: FirewallConfig, takenAt: number): Snapshot {
  const rows = all.filter(({ ifname }) => !settingsOf(config, ifname).hidden);
  const report = reportOf(rows);
  return { rows, report, text: phpJson(report), takenAt };
}
