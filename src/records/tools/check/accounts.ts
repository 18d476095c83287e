import { isObject } from "../../../core/is-object.ts";
import { eachPart, storeTables, type Table, type Tables } from "../tables/table.ts";
import { type Accounts, checkAccount, named, parsed, restoreIt, type Step } from "./step.ts";

/** Accounts, and what belongs to one: tokens, keys, passwords, actions. */
export async function checkAccounts(tables: Tables, step: Step): Promise<Accounts> {
  const accounts = new Set<number>();
  for await (const rows of eachPart(tables, storeTables.accounts)) {
    for (const row of rows) accounts.add(Number(row[0]));
    step.read(rows.length);
  }
  for (const [table, what] of owned) await checkOwned(tables, table, what, accounts, step);
  await checkOnceKeys(tables, step);
  return accounts;
}

type Owned = {
  readonly id?: number;
  readonly number?: number;
  readonly account: number | null;
  readonly scope?: string;
};

const owned: readonly [Table, string][] = [
  [storeTables.tokens, "token"],
  [storeTables.transferKeys, "transfer key"],
  [storeTables.passwords, "password"],
  [storeTables.actions, "action"],
  [storeTables.grants, "grant"],
];

async function checkOwned(tables: Tables, table: Table, what: string, accounts: Accounts, step: Step): Promise<void> {
  for await (const rows of eachPart(tables, table)) {
    for (const row of rows) {
      const { account, scope } = named<Owned>(table, row);
      const where = `${what} ${row[0]}`;
      // A transfer key without an account is for the zones of all.
      if (account !== null) checkAccount(accounts, account, where, step);
      if (scope !== undefined) checkScope(scope, where, step);
    }
    step.read(rows.length);
  }
}

function checkScope(text: string, where: string, step: Step): void {
  const scope = parsed(text);
  if (isObject(scope) && (scope.access === "read" || scope.access === "write")) return;
  step.fault({
    code: "scope-unreadable",
    where,
    message: "what it opens cannot be read",
    todo: "revoke it and make another",
  });
}

async function checkOnceKeys(tables: Tables, step: Step): Promise<void> {
  for await (const rows of eachPart(tables, storeTables.onceKeys)) {
    for (const row of rows) {
      const { actor, key, outcome } = named<Record<"actor" | "key" | "outcome", string>>(storeTables.onceKeys, row);
      if (isObject(parsed(outcome))) continue;
      step.fault({
        code: "outcome-unreadable",
        where: `idempotency key ${key} of ${actor}`,
        message: "what was answered under it cannot be read",
        todo: restoreIt,
      });
    }
    step.read(rows.length);
  }
}
