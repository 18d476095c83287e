import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { dirname, join, relative } from "node:path";

const repository = join(import.meta.dirname, "../..");
const maps = new Map<string, SourceMap>();

/** Names the source lines where a stack trace names lines of the built program. */
export function withSourceLines(text: string): string {
  return text.replaceAll(place, (written, file: string, line: string, column: string) => {
    try {
      const map = maps.get(file) ?? new SourceMap(JSON.parse(readFileSync(`${file}.map`, "utf8")));
      maps.set(file, map);
      const found = map.findEntry(Number(line) - 1, Number(column) - 1);
      if (!("originalSource" in found)) return written;
      const source = relative(repository, join(dirname(file), found.originalSource));
      return `${source}:${found.originalLine + 1}:${found.originalColumn + 1}`;
    } catch {
      return written;
    }
  });
}

const place = /(?:file:\/\/)?(\/[^\s()]*\/program\/[^\s()/]+\.c?js):(\d+):(\d+)/g;
