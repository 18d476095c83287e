import { visible } from "../../core/visible-text.ts";
import type { CommandIo } from "./command-io.ts";

/** Columns two spaces apart, as wide as their widest cell, without trailing spaces. Each row is one line. */
export function printTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [heads, ...rows.map((row) => row.map(visible))];
  const widths = heads.map((_, column) => all.reduce((most, row) => Math.max(most, row[column]?.length ?? 0), 0));
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
  return all.map((row) => `${line(row).trimEnd()}\n`).join("");
}

type ShownList = {
  readonly json: boolean | undefined;
  readonly forPrograms: readonly unknown[];
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Instead of an empty table. */
  readonly none?: string;
};

/** Prints a list, as JSON or as a table. */
export function printList({ json, forPrograms, heads, rows, none }: ShownList, io: CommandIo): number {
  if (json) io.out(`${JSON.stringify(forPrograms, undefined, 2)}\n`);
  else io.out(none !== undefined && rows.length === 0 ? `${none}\n` : printTable(heads, rows));
  return 0;
}

/** `2026-11-15 12:00`, in UTC. */
export const minute = (at: Date | number | undefined): string =>
  at === undefined ? "" : new Date(at).toISOString().slice(0, 16).replace("T", " ");
