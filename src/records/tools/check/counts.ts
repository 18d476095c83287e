import { type CellValue, eachPart, storeTables, type Table, type Tables } from "../tables/table.ts";
import { named, type Step } from "./step.ts";

/** The database keeps a count of the zones per account, with triggers. */
export async function checkZoneCounts(tables: Tables, step: Step): Promise<void> {
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

/** If a number were assigned twice, its table would refuse it, or one zone would get the history of another. */
export async function checkCounter(tables: Tables, table: Table, step: Step): Promise<void> {
  const last = await tables.lastNumber(table);
  const [beyond] = await tables.read(table, { after: [last], limit: 1 });
  if (beyond === undefined) return;
  step.fault(
    "counter-behind",
    table.name,
    `its counter is at ${last}, but number ${beyond[0]} is already in use`,
    "copy the store, which corrects its counters: moor store copy FROM TO",
  );
}
