import type { DiffLine } from "../../contract/updater-page.ts";

/** Lines above and below a change. */
const around = 2;

/** The lines that differ, with a few around them, but none outside `from` to `to`, which are lines of the new text. */
export function lineDiff(before: string, after: string, [from, to]: readonly [number, number]): readonly DiffLine[] {
  const [old, next] = [linesOf(before), linesOf(after)];
  let top = 0;
  while (top < old.length && top < next.length && old[top] === next[top]) top++;
  let bottom = 0;
  const isSameAtEnd = () => old.at(-1 - bottom) === next.at(-1 - bottom);
  while (bottom < Math.min(old.length, next.length) - top && isSameAtEnd()) bottom++;
  const same = (index: number): DiffLine => ({ kind: "same", line: index + 1, text: next[index] ?? "" });
  const shown = (first: number, last: number) =>
    next.flatMap((_, i) => (i >= first && i < last && i + 1 >= from && i + 1 <= to ? [same(i)] : []));
  const end = next.length - bottom;
  return [
    ...shown(top - around, top),
    ...middle(old.slice(top, old.length - bottom), next.slice(top, end), top),
    ...shown(end, end + around),
  ];
}

const linesOf = (text: string): readonly string[] => text.replace(/\r?\n$/, "").split(/\r?\n/);

/** By the longest common subsequence: what changes is one entry, so there are few lines. */
function middle(old: readonly string[], next: readonly string[], offset: number): readonly DiffLine[] {
  const lengths = Array.from({ length: old.length + 1 }, () => new Array<number>(next.length + 1).fill(0));
  const at = (i: number, j: number) => lengths[i]?.[j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--) {
    const row = lengths[i] ?? [];
    for (let j = next.length - 1; j >= 0; j--)
      row[j] = old[i] === next[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < next.length) {
    if (i < old.length && j < next.length && old[i] === next[j]) {
      lines.push({ kind: "same", line: offset + ++j, text: old[i++] ?? "" });
    } else if (i < old.length && (j === next.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ kind: "removed", line: offset + i + 1, text: old[i++] ?? "" });
    } else lines.push({ kind: "added", line: offset + j + 1, text: next[j++] ?? "" });
  }
  return lines;
}
