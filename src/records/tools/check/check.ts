import type { Fault } from "../../../core/result.ts";
import { everyTable, type Table, type Tables } from "../tables/table.ts";
import { checkAccounts } from "./accounts.ts";
import { checkLog } from "./log.ts";
import { checkNeighbours } from "./neighbours.ts";
import { restoreIt, type Step } from "./step.ts";
import { checkZones } from "./zones.ts";

export type CheckCounts = { readonly zones: number; readonly records: number; readonly changes: number };
export type CheckProgress = { readonly done: number; readonly total: number };

export type CheckTellers = {
  readonly fault: (fault: Fault) => void;
  /** Left out: whoever asks only wants to know whether the store is whole. */
  readonly warning?: (warning: Fault) => void;
  readonly progress?: (progress: CheckProgress) => void;
  readonly signal: AbortSignal;
};

/** The invariants of the model, over all of a store, a part at a time: memory does not grow with the store. */
export async function checkStore(tables: Tables, tellers: CheckTellers): Promise<CheckCounts> {
  const damage = await tables.damage();
  for (const message of damage) tellers.fault({ code: "damaged", where: tables.name, message, todo: restoreIt });
  // What follows a damaged page is not worth reading, and may not be readable.
  if (damage.length > 0) return { zones: 0, records: 0, changes: 0 };
  const step = await stepThrough(tables, tellers);
  const accounts = await checkAccounts(tables, step);
  const { zones, records } = await checkZones(tables, accounts, step);
  if (tellers.warning) await checkNeighbours(tables, step);
  const changes = await checkLog(tables, accounts, step);
  for (const table of everyTable) await checkCounter(tables, table, step);
  return { zones, records, changes };
}

async function stepThrough(
  tables: Tables,
  { fault, warning = () => undefined, progress, signal }: CheckTellers,
): Promise<Step> {
  let total = 0;
  for (const table of everyTable) total += await tables.count(table);
  let done = 0;
  return {
    fault,
    warning,
    read: (rows) => {
      signal.throwIfAborted();
      done = Math.min(done + rows, total);
      progress?.({ done, total });
    },
  };
}

/** A number that is given out twice would be refused by its table, or give one zone the history of another. */
async function checkCounter(tables: Tables, table: Table, step: Step): Promise<void> {
  if (!table.counted) return;
  const last = await tables.lastNumber(table);
  const [beyond] = await tables.read(table, { after: [last], limit: 1 });
  if (beyond === undefined) return;
  step.fault({
    code: "counter-behind",
    where: table.name,
    message: `its counter stands at ${last}, but the number ${beyond[0]} is already there`,
    todo: "copy the store, which sets its counters: moor store copy FROM TO",
  });
}
