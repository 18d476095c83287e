import type { Fault } from "../../../core/result.ts";
import { everyTable, storeTables, type Tables, type ToolProgress } from "../tables/table.ts";
import { checkCounter, checkZoneCounts } from "./counts.ts";
import { restoreIt, type Step } from "./step.ts";
import { checkZones } from "./zones.ts";

export type CheckCounts = { readonly zones: number; readonly records: number; readonly changes: number };

export type CheckTellers = {
  readonly fault: (fault: Fault) => void;
  readonly progress?: (progress: ToolProgress) => void;
  readonly signal: AbortSignal;
};

/**
 * Checks the invariants of the model over a whole store: first what the database can check itself, then every zone
 * with its log and its sets. It reads in parts, so that memory does not grow with the store.
 */
export async function checkStore(tables: Tables, tellers: CheckTellers): Promise<CheckCounts> {
  const damage = await tables.damage();
  for (const message of damage) tellers.fault({ code: "damaged", where: tables.name, message, todo: restoreIt });
  // After that, nothing else can be relied on, and a damaged page may not even be readable.
  if (damage.length > 0) return { zones: 0, records: 0, changes: 0 };
  const zones = await tables.count(storeTables.zones);
  const changes = await tables.count(storeTables.changes);
  const step = stepThrough(changes + (await tables.count(storeTables.sets)), tellers);
  await checkZoneCounts(tables, step);
  for (const table of everyTable) if (table.counted) await checkCounter(tables, table, step);
  return { zones, records: await checkZones(tables, step), changes };
}

function stepThrough(total: number, { fault, progress, signal }: CheckTellers): Step {
  let done = 0;
  return {
    fault: (code, where, message, todo = restoreIt) => fault({ code, where, message, todo }),
    read: (rows) => {
      signal.throwIfAborted();
      done += rows;
      progress?.({ what: "check", done, total });
    },
  };
}
