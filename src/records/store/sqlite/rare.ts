import type { DatabaseSync } from "node:sqlite";
import type { Commit } from "./group-commit.ts";
import type { sqliteQueries } from "./sql.ts";

type Queries = ReturnType<typeof sqliteQueries>;

/**
 * Queries that both databases have in common. kysely, which writes them, takes an eighth of a second and 25 MB: it is loaded
 * with the first of them, so that a start, an update and a DNS question do without.
 */
export function rareQueries<Name extends keyof Queries>(
  database: DatabaseSync,
  commit: Commit,
  names: readonly Name[],
): Pick<Queries, Name> {
  let loaded: Queries | undefined;
  const load = async (): Promise<Queries> => {
    const sql = await import("./sql.ts");
    loaded ??= sql.sqliteQueries(database, commit);
    return loaded;
  };
  const late =
    (name: Name) =>
    async (...asked: never[]) => {
      const query = (loaded ?? (await load()))[name] as (...asked: never[]) => Promise<unknown>;
      return await query(...asked);
    };
  return Object.fromEntries(names.map((name) => [name, late(name)])) as Pick<Queries, Name>;
}
