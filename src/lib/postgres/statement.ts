import type { QueryConfig } from "pg";

/** A statement with a name is parsed and planned once per connection. */
export type Statement = {
  readonly text: string;
  readonly values?: readonly unknown[];
  readonly name?: string;
};

export type Rows = { readonly rows: readonly unknown[]; readonly rowCount: number | null; readonly command: string };

/** How a transaction ends: `last` is sent together with COMMIT. Without it, the transaction is rolled back. */
export type Ending<T> = { readonly result: T; readonly last?: Statement };

/** `last`: the rows of the last statement; undefined without one, and if the connection was lost after the commit. */
export type Committed<T> = { readonly result: T; readonly last: Rows | undefined };

export const toQuery = ({ text, values = [], name }: Statement): QueryConfig =>
  ({ text, values: values.map(withoutNul), ...(name && { name }) }) as QueryConfig;

/**
 * PostgreSQL's text cannot contain NUL, and sending one fails the statement. A search for such a text must just find
 * nothing.
 */
function withoutNul(value: unknown): unknown {
  if (typeof value === "string") return value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
  return Array.isArray(value) ? value.map(withoutNul) : value;
}
