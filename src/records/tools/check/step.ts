import type { Fault } from "../../../core/result.ts";
import type { Row, Table } from "../tables/table.ts";

/** What each part of the check is given. */
export type Step = {
  /** Called for each fault as it is found: there may be very many. `todo` is `restoreIt` when left out. */
  readonly fault: (code: string, where: string, message: string, todo?: string) => void;
  /** What is whole, and yet may not be what the operator wants. */
  readonly warning: (warning: Fault) => void;
  /** Called after each part that was read; throws when the check is to end. */
  readonly read: (rows: number) => void;
};

export const restoreIt = "restore the last good backup";

/** A row by the names of its columns. */
export const named = <T>(table: Table, row: Row): T =>
  Object.fromEntries(table.columns.map(({ name }, i) => [name, row[i]])) as T;

/** What a JSON column says, or undefined when it is none. */
export function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}
