import {
  type CompiledQuery,
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

/** Writes SQL for one database. What the databases say alike is written once with `db`; the rest has a word here. */
export type SqlText<Tables> = {
  readonly db: Kysely<Tables>;
  /** Is one of these: one text however many there are, none included. */
  readonly anyOf: (column: Expression<unknown>, values: readonly (string | number)[]) => RawBuilder<boolean>;
  /** Has this part somewhere. */
  readonly contains: (column: Expression<unknown>, part: string) => RawBuilder<boolean>;
  /** A member of a column that holds JSON text. */
  readonly member: (column: Expression<unknown>, name: string) => RawBuilder<string>;
};

/** Runs what was written. Gives rows; a write gives those of its RETURNING. */
export type RunSql = <Row>(query: CompiledQuery<Row>) => Promise<readonly Row[]>;

export function sqliteText<Tables>(): SqlText<Tables> {
  return {
    db: new Kysely<Tables>({
      dialect: {
        createAdapter: () => new SqliteAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (db) => new SqliteIntrospector(db),
        createQueryCompiler: () => new SqliteQueryCompiler(),
      },
    }),
    anyOf: (column, values) => sql<boolean>`${column} in (select value from json_each(${JSON.stringify(values)}))`,
    contains: (column, part) => sql<boolean>`instr(${column}, ${part}) > 0`,
    // The index on it is used only when the name is written out.
    member: (column, name) => sql<string>`${column} ->> ${sql.lit(name)}`,
  };
}

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
    member: (column, name) => sql<string>`(${column}::json ->> ${sql.lit(name)})`,
  };
}
