import { existsSync } from "node:fs";
import type { Client } from "pg";
import { DatabaseTrouble } from "../../process/database/migration-steps.ts";
import { hasTable } from "../../process/postgres/migrate.ts";

/** A copy into a file goes to a file beside it, which gets its name when all of it is there. */
export const partOf = (path: string): string => `${path}.part`;

/** There is nothing at `path` yet because a copy to it has not come to its end. */
export const isPartial = (path: string): boolean => !existsSync(path) && existsSync(partOf(path));

export const partialFile = (path: string): string =>
  `a copy to ${path} is not finished: ${partOf(path)} is there; run the same moor store copy again, which goes on where it ` +
  "ended, or move that file away to do without it.";

/** A table that is in a database from the beginning of a copy to its end, and names where the rows come from. */
export const copyMark = "copy_in_progress";

export const hasCopyMark = (client: Client): Promise<boolean> => hasTable(client, copyMark);

/** Whoever worked on half a copy would write what the other half then overwrites. */
export function expectWholeFile(path: string): void {
  if (isPartial(path)) throw new DatabaseTrouble(partialFile(path));
}

export async function expectWholeDatabase(client: Client, shown: string): Promise<void> {
  if (!(await hasCopyMark(client))) return;
  throw new DatabaseTrouble(
    `a copy to the database ${shown} is not finished; run the same moor store copy or restore again, which goes on where it ` +
      "ended, or make the database anew to do without it.",
  );
}

/** Going on with another source would replace what was copied, row by row. */
export function expectSameSource(
  begun: string | undefined,
  source: string,
  { at, anew }: { readonly at: string; readonly anew: string },
): void {
  if (begun === undefined || begun === source) return;
  throw new DatabaseTrouble(
    `${at} has a copy of ${begun} that was broken off, and this would be one of ${source}; run the former again, which goes on ` +
      `where it ended, or ${anew} to do without it.`,
  );
}
