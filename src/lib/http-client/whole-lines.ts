import { excessOf } from "./excess.ts";

/**
 * Passes on whole lines only, so that a secret split across two chunks is found too. Each chunk is looked at once,
 * however long the line is that it belongs to.
 */
export function wholeLines(take: (text: string) => void, longest: number): (chunk: string) => void {
  let rest = "";
  let parts = 0;
  return (chunk) => {
    const end = Math.max(chunk.lastIndexOf("\n"), chunk.lastIndexOf("\r")) + 1;
    if (end > 0) take(rest + chunk.slice(0, end));
    rest = end > 0 ? chunk.slice(end) : rest + chunk;
    parts = end > 0 ? 0 : parts + 1;
    const excess = excessOf(parts, rest.length, longest);
    if (excess) throw excess;
  };
}
