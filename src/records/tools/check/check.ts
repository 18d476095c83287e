import type { Fault } from "../../../core/result.ts";
import { type CellValue, eachPart, storeTables, type Tables, type ToolProgress } from "../tables/table.ts";
import { named, restoreIt, type Step } from "./step.ts";
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

/** The database keeps a count of the zones per account, with triggers. */
async function checkZoneCounts(tables: Tables, step: Step): Promise<void> {
  const counted = "SELECT known.zones FROM zone_counts AS known WHERE known.account = accounts.id";
  const wrong = `coalesce((${counted}), 0) <> (SELECT count(*) FROM zones WHERE account = accounts.id)`;
  for await (const rows of eachPart(tables, storeTables.accounts, { where: wrong })) {
    for (const { id } of rows.map((row) => named<{ readonly id: CellValue }>(storeTables.accounts, row)))
      step.fault(
        "zones-miscounted",
        `account ${id}`,
        "its stored number of zones is wrong",
        "copy the store, which counts them again: moor store copy FROM TO",
      );
    step.read(0);
  }
}
