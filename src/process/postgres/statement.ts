import type { QueryConfig } from "pg";

/** A statement. One with a name is parsed and planned once a connection. */
export type Statement = {
  readonly text: string;
  readonly values?: readonly unknown[];
  readonly name?: string;
};

export type Rows = { readonly rows: readonly unknown[]; readonly rowCount: number | null; readonly command: string };

/** What a transaction comes to: `last` is sent together with COMMIT. Without one nothing is kept. */
export type Ending<T> = { readonly result: T; readonly last?: Statement };

/** `last` is what the last statement gave; undefined when the connection was lost with the answer, after the commit. */
export type Committed<T> = { readonly result: T; readonly last: Rows | undefined };

export const toQuery = ({ text, values = [], name }: Statement): QueryConfig =>
  ({ text, values: values.map(withoutNul), ...(name && { name }) }) as QueryConfig;

/** PostgreSQL's text has no NUL, and sending one fails the statement. A search for such a text finds nothing, which is not an error. */
function withoutNul(value: unknown): unknown {
  if (typeof value === "string") return value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
  return Array.isArray(value) ? value.map(withoutNul) : value;
}
