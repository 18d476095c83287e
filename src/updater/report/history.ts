import { appendFile } from "node:fs/promises";
import { linkTarget, readFileIfThere, swapFile } from "../../process/data-folder.ts";
import type { Notice } from "./reporter.ts";

export type HistoryEntry = {
  readonly at: string;
  readonly kind: Notice["kind"];
  /** A record's name and type, `source NAME` or `target NAME`. */
  readonly about: string;
  readonly what: string;
  readonly because?: string | undefined;
  readonly todo?: string | undefined;
  /** When the wait ends. */
  readonly until?: string;
};

export const longestHistory = 1000;

/**
 * The last decisions that changed something or failed, on disk, one JSON line per decision. Truncated to
 * `longestHistory` only when it is twice as long, so that most entries cost one short write.
 */
export function openHistory(path: string, warn: (because: string) => void) {
  let lines: number | undefined;
  let writing: Promise<void> = Promise.resolve();
  const append = async (entry: HistoryEntry) => {
    lines ??= (await readHistory(path)).length;
    await appendFile(path, `${JSON.stringify(entry)}\n`, { mode: 0o600 });
    lines += 1;
    if (lines < 2 * longestHistory) return;
    const kept = (await readHistory(path)).slice(-longestHistory);
    await swapFile(linkTarget(path), kept.map((each) => `${JSON.stringify(each)}\n`).join(""));
    lines = kept.length;
  };
  return {
    add(notice: Notice, at: Date): void {
      // Without a history, records are still updated.
      writing = writing
        .then(() => append(entryOf(notice, at)))
        .catch((error: Error) =>
          warn(`${error.message}; fix that, or choose another file with \`history:\` in the config`),
        );
    },
    /** Waits for pending writes. */
    settled: (): Promise<void> => writing,
  };
}

/** Oldest first. Skips lines damaged by a crash or an edit; a missing file is an empty history. */
export async function readHistory(path: string): Promise<readonly HistoryEntry[]> {
  const text = (await readFileIfThere(path)) ?? "";
  return text.split("\n").flatMap((line) => {
    try {
      const entry = JSON.parse(line) as HistoryEntry;
      const { at, about, what, because = "" } = entry;
      return [at, about, what, because].every((text) => typeof text === "string") ? [entry] : [];
    } catch {
      return [];
    }
  });
}

function entryOf({ kind, message, fields, until }: Notice, at: Date): HistoryEntry {
  const { name, source, target, because, todo } = fields;
  const service = source === undefined ? target && `target ${target}` : `source ${source}`;
  return {
    at: at.toISOString(),
    kind,
    about: name ?? service ?? "moor update",
    what: message,
    because,
    todo,
    ...(until !== undefined && { until: new Date(until).toISOString() }),
  };
}
