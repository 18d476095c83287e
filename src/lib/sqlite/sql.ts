/** An SQL statement or a part of one: pieces of text, with a value between each two. */
export type SqlText = { readonly words: readonly string[]; readonly values: readonly unknown[] };

/**
 * A template tag. Values become parameters, so they may come from a client; parts written with `sql` are inserted as
 * SQL.
 */
export function sql(words: readonly string[], ...inserts: readonly unknown[]): SqlText {
  let last = words[0] ?? "";
  const before: string[] = [];
  const values: unknown[] = [];
  for (const [i, each] of inserts.entries()) {
    const part = isText(each) ? each : parameter(each);
    values.push(...part.values);
    for (const word of part.words.slice(0, -1)) {
      before.push(last + word);
      last = "";
    }
    last += `${part.words.at(-1)}${words[i + 1]}`;
  }
  return { words: [...before, last], values };
}

const plain = (text: string): SqlText => ({ words: [text], values: [] });

const parameter = (value: unknown): SqlText => ({ words: ["", ""], values: [value] });

const isText = (value: unknown): value is SqlText => typeof value === "object" && value !== null && "words" in value;

/** Needs at least one condition. */
export const allOf = (conditions: readonly SqlText[]): SqlText =>
  conditions.reduce((before, condition) => sql`${before} AND ${condition}`);

/** One database: its SQL dialect, and how it runs a statement. */
export type Sql = {
  readonly dialect: Dialect;
  readonly read: RunSql;
  /** Returns the rows of its RETURNING clause. */
  readonly write: RunSql;
};

export type RunSql = <Row>(text: SqlText) => Promise<readonly Row[]>;

export type Dialect = {
  readonly placeholder: (nth: number) => string;
  /** Whether the column has one of these values. The SQL text is the same for any number of values, even none. */
  readonly anyOf: (column: SqlText, values: readonly (string | number)[]) => SqlText;
  readonly contains: (column: SqlText, part: string) => SqlText;
  /** A text column whose JSON can be read with `->` and `->>`. */
  readonly asJson: (column: SqlText) => SqlText;
  /** Many rows as one parameter, as a table in parentheses. The names of the columns come from the code. */
  readonly rowsIn: (rows: readonly object[], columns: Readonly<Record<string, "text" | "bigint">>) => SqlText;
  /** Keeps SQLite's planner from using an index on this column. */
  readonly unindexed: (column: SqlText) => SqlText;
};

export const postgresDialect: Dialect = {
  placeholder: (nth) => `$${nth}`,
  anyOf: (column, values) => sql`${column} = any(${values})`,
  contains: (column, part) => sql`strpos(${column}, ${part}) > 0`,
  asJson: (column) => sql`${column}::json`,
  rowsIn: (rows, columns) => {
    const typed = Object.entries(columns).map((column) => column.join(" "));
    return sql`(SELECT * FROM json_to_recordset(cast(${JSON.stringify(rows)} as json)) AS row${plain(`(${typed.join(", ")})`)})`;
  },
  unindexed: (column) => column,
};

export const sqliteDialect: Dialect = {
  placeholder: () => "?",
  anyOf: (column, values) => sql`${column} IN (SELECT value FROM json_each(${JSON.stringify(values)}))`,
  contains: (column, part) => sql`instr(${column}, ${part}) > 0`,
  asJson: (column) => column,
  rowsIn: (rows, columns) => {
    const read = Object.keys(columns).map((name) => `value ->> '${name}' AS ${name}`);
    return sql`(SELECT ${plain(read.join(", "))} FROM json_each(${JSON.stringify(rows)}))`;
  },
  unindexed: (column) => sql`+${column}`,
};

export const inWords = ({ words }: SqlText, { placeholder }: Dialect): string =>
  words.reduce((before, word, nth) => `${before}${placeholder(nth)}${word}`);
