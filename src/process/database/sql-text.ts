import {
  type CompiledQuery,
  type Dialect,
  DummyDriver,
  type Expression,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from "kysely";

/** Writes SQL for one database. What databases say alike is written with `db`; the rest has a word here. */
export type SqlText<Tables> = {
  readonly db: Kysely<Tables>;
  /** Is one of these: one text however many there are, none included. */
  readonly anyOf: (column: Expression<unknown>, values: readonly (string | number)[]) => RawBuilder<boolean>;
  /** Has this part somewhere. */
  readonly contains: (column: Expression<unknown>, part: string) => RawBuilder<boolean>;
  /** A text column whose JSON can be looked into with `->` and `->>`. */
  readonly asJson: (column: Expression<unknown>) => Expression<unknown>;
  /** A column that rows shall not be looked for by, for a planner that would. */
  readonly unindexed: <T>(column: Expression<T>) => Expression<T>;
};

/** Runs what was written. Gives rows; a write gives those of its RETURNING. */
export type RunSql = <Row>(query: CompiledQuery<Row>) => Promise<readonly Row[]>;

export const postgresText = <Tables>(): SqlText<Tables> => ({
  db: writeOnly({
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }),
  anyOf: (column, values) => sql`${column} = any(${values})`,
  contains: (column, part) => sql`strpos(${column}, ${part}) > 0`,
  asJson: (column) => sql`${column}::json`,
  unindexed: (column) => column,
});

export const sqliteText = <Tables>(): SqlText<Tables> => ({
  db: writeOnly({
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }),
  anyOf: (column, values) => sql`${column} in (select value from json_each(${JSON.stringify(values)}))`,
  contains: (column, part) => sql`instr(${column}, ${part}) > 0`,
  asJson: (column) => column,
  unindexed: (column) => sql`+${column}`,
});

const writeOnly = <Tables>(dialect: Omit<Dialect, "createDriver">): Kysely<Tables> =>
  new Kysely({ dialect: { ...dialect, createDriver: () => new DummyDriver() } });
