import type { KernelRow } from "../../lib/kernel/row.ts";
import { type FirewallConfig, settingsOf } from "../config.ts";
import { phpJson } from "./php-json.ts";
import { type Report, reportOf } from "./report.ts";

/** The machine at one moment, as kernel rows and as the report. */
export type Snapshot = {
  readonly rows: readonly KernelRow[];
  readonly report: Report;
  /** The report as sent to clients, in one line. */
  readonly text: string;
  /** Milliseconds on the reader's clock. */
  readonly takenAt: number;
};

/** Leaves out hidden devices, so that no response of any kind has them. */
export function takeSnapshot(all: readonly KernelRow[], config: FirewallConfig, takenAt: number): Snapshot {
  const rows = all.filter(({ ifname }) => !settingsOf(config, ifname).hidden);
  const report = reportOf(rows);
  return { rows, report, text: phpJson(report), takenAt };
}
