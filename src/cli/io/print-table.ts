import { visible } from "../../core/visible-text.ts";

/** Columns two spaces apart, as wide as their widest cell, without trailing spaces. Each row is one line. */
export function printTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [heads, ...rows.map((row) => row.map(visible))];
  const widths = heads.map((_, column) => all.reduce((most, row) => Math.max(most, row[column]?.length ?? 0), 0));
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
  return all.map((row) => `${line(row).trimEnd()}\n`).join("");
}

/** `2026-11-15 12:00`, in UTC. */
export const minute = (at: Date | number | undefined): string =>
  at === undefined ? "" : new Date(at).toISOString().slice(0, 16).replace("T", " ");
