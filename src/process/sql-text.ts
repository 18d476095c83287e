import {
  type CompiledQuery,
  DummyDriver,
  type Expression,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  sql,
} from "kysely";

/**
 * Writes SQL for one database. What databases say alike is written with `db`; the rest has a word here. SQLite's statements are
 * prepared by hand instead: kysely takes an eighth of a second and 25 MB, which a store in one file need not pay.
 */
export type SqlText<Tables> = {
  readonly db: Kysely<Tables>;
  /** Is one of these: one text however many there are, none included. */
  readonly anyOf: (column: Expression<unknown>, values: readonly (string | number)[]) => RawBuilder<boolean>;
  /** Has this part somewhere. */
  readonly contains: (column: Expression<unknown>, part: string) => RawBuilder<boolean>;
};

/** Runs what was written. Gives rows; a write gives those of its RETURNING. */
export type RunSql = <Row>(query: CompiledQuery<Row>) => Promise<readonly Row[]>;

export function postgresText<Tables>(): SqlText<Tables> {
  return {
    db: new Kysely<Tables>({
      dialect: {
        createAdapter: () => new PostgresAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (db) => new PostgresIntrospector(db),
        createQueryCompiler: () => new PostgresQueryCompiler(),
      },
    }),
    anyOf: (column, values) => sql<boolean>`${column} = any(${values})`,
    contains: (column, part) => sql<boolean>`strpos(${column}, ${part}) > 0`,
  };
}
