import type { Fault } from "../../../core/result.ts";
import type { Row, Table } from "../tables/table.ts";

/** What each part of the check is given. */
export type Step = {
  /** Told each fault as it is found: there may be very many. */
  readonly fault: (fault: Fault) => void;
  /** What is whole, and yet may not be what the operator wants. */
  readonly warning: (warning: Fault) => void;
  /** Said after each part that was read; throws when the check shall end. */
  readonly read: (rows: number) => void;
};

/** The ids of all accounts. */
export type Accounts = ReadonlySet<number>;

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

export function checkAccount(accounts: Accounts, account: number, where: string, step: Step): void {
  if (accounts.has(account)) return;
  step.fault({
    code: "account-missing",
    where,
    message: `it belongs to the account ${account}, which is not there`,
    todo: restoreIt,
  });
}
