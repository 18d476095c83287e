import { jsonOf } from "../../../core/is-object.ts";
import type { Row, Table } from "../tables/table.ts";

/** What every part of the check receives. */
export type Step = {
  /** Called for each fault as it is found, because there may be very many. `todo` defaults to `restoreIt`. */
  readonly fault: (code: string, where: string, message: string, todo?: string) => void;
  /** Called after each part that was read; throws when the check is aborted. */
  readonly read: (rows: number) => void;
};

export const restoreIt = "restore the last good backup";

/** A row as an object with the names of its columns. */
export const named = <T>(table: Table, row: Row): T =>
  Object.fromEntries(table.columns.map(({ name }, i) => [name, row[i]])) as T;

/** The value of a JSON column, or undefined if it is not JSON. */
export const parsed = (text: unknown): unknown => jsonOf(String(text));
