import { existsSync } from "node:fs";
import type { Client } from "pg";
import { hasTable } from "../../lib/postgres/migrate.ts";
import { DatabaseTrouble } from "../../lib/sqlite/migration-steps.ts";

/** A copy is written to a file beside its target, and renamed when it is complete. */
export const partOf = (path: string): string => `${path}.part`;

/** There is nothing at `path` yet because a copy to it is not finished. */
export const isPartial = (path: string): boolean => !existsSync(path) && existsSync(partOf(path));

export const partialFile = (path: string): string =>
  `a copy to ${path} is not finished: ${partOf(path)} exists; run the same moor store copy again to resume it, ` +
  "or move that file away to discard it.";

/** A table that exists in a database while a copy to it is unfinished, and names the source of the copy. */
export const copyMark = "copy_in_progress";

export const hasCopyMark = (client: Client): Promise<boolean> => hasTable(client, copyMark);

/** An unfinished copy must not be used as a store: resuming the copy would overwrite what was written meanwhile. */
export function expectWholeFile(path: string): void {
  if (isPartial(path)) throw new DatabaseTrouble(partialFile(path));
}

export async function expectWholeDatabase(client: Client, shown: string): Promise<void> {
  if (!(await hasCopyMark(client))) return;
  throw new DatabaseTrouble(
    `a copy to the database ${shown} is not finished; run the same moor store copy or restore again to resume it, ` +
      "or drop and create the database to discard it.",
  );
}

/** Resuming with another source would replace what was copied, row by row. */
export function expectSameSource(
  begun: string | undefined,
  source: string,
  { at, startOver }: { readonly at: string; readonly startOver: string },
): void {
  if (begun === undefined || begun === source) return;
  throw new DatabaseTrouble(
    `${at} has an unfinished copy of ${begun}, not of ${source}; copy ${begun} again to resume it, ` +
      `or ${startOver} to discard it.`,
  );
}
